package dev.tenon.api.media;

import org.osgi.annotation.versioning.ConsumerType;

/// The size that a picture gets for an encoder. All of these rules compute in float32, as llama.cpp
/// does. Stateless.
@ConsumerType
@FunctionalInterface
public interface SizeRule {
    /// Tells the size.
    ///
    /// @param picture the picture's own size
    /// @return the size that it gets
    Size of(Size picture);

    /// {@return the rule that gives every picture one size}
    ///
    /// @param width pixels
    /// @param height pixels
    static SizeRule fixed(int width, int height) {
        Size size = new Size(width, height);
        return picture -> size;
    }

    /// {@return the rule that rounds both sides to the nearest multiple, up where two are as near}
    ///
    /// @param align what sides are multiples of
    static SizeRule nearest(int align) {
        return picture -> new Size(
                Math.max(align, Math.round((float) picture.width() / align) * align),
                Math.max(align, Math.round((float) picture.height() / align) * align));
    }

    /// {@return the rule that rounds both sides to the nearest multiple, to the even one where two
    ///     are as near}
    ///
    /// @param align what sides are multiples of
    /// @param least what a side is that would be 0
    static SizeRule nearestEven(int align, int least) {
        return picture -> new Size(
                Math.max(least, (int) Math.rint((float) picture.width() / align) * align),
                Math.max(least, (int) Math.rint((float) picture.height() / align) * align));
    }

    /// {@return the rule that scales the longer side to a length and rounds both up to multiples}
    ///
    /// @param edge the length
    /// @param align what sides are multiples of
    static SizeRule longestEdge(int edge, int align) {
        return picture -> {
            float scale = Math.min((float) edge / picture.width(), (float) edge / picture.height());
            return new Size(
                    (int) Math.ceil(picture.width() * scale / align) * align,
                    (int) Math.ceil(picture.height() * scale / align) * align);
        };
    }

    /// {@return the rule that rounds to the nearest multiple and keeps the number of pixels between
    ///     two limits, roughly in the picture's proportions}
    ///
    /// @param align what sides are multiples of
    /// @param minPixels least pixels
    /// @param maxPixels most pixels
    static SizeRule smart(int align, long minPixels, long maxPixels) {
        return nearest(align).within(align, minPixels, maxPixels);
    }

    /// {@return this rule where its size has pixels between two limits; otherwise the picture's
    ///     proportions, scaled to the limit, and rounded inwards to multiples}
    ///
    /// @param align what sides are multiples of; no side becomes shorter
    /// @param minPixels least pixels
    /// @param maxPixels most pixels, which thin pictures may exceed; counts before the least
    default SizeRule within(int align, long minPixels, long maxPixels) {
        return picture -> {
            Size size = of(picture);
            float pixels = (float) picture.width() * picture.height();
            if (size.pixels() < minPixels) {
                float grow = (float) Math.sqrt(minPixels / pixels);
                size = new Size(
                        (int) Math.ceil(picture.width() * grow / align) * align,
                        (int) Math.ceil(picture.height() * grow / align) * align);
            }
            if (size.pixels() > maxPixels) {
                float shrink = (float) Math.sqrt(pixels / maxPixels);
                size = new Size(
                        Math.max(align, (int) Math.floor(picture.width() / shrink / align) * align),
                        Math.max(align, (int) Math.floor(picture.height() / shrink / align) * align));
            }
            return size;
        };
    }
}
