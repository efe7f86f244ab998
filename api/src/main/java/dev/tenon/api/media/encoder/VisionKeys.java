package dev.tenon.api.media.encoder;

import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.RopeParams.Turn;
import dev.tenon.api.media.GridRule;
import dev.tenon.api.media.Normalisation;
import dev.tenon.api.media.PictureRule;
import dev.tenon.api.media.Resampling;
import dev.tenon.api.media.Resizing;
import dev.tenon.api.media.Size;
import dev.tenon.api.media.SizeRule;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import java.util.List;
import java.util.stream.IntStream;

/// The keys of encoders of pictures, `clip.vision.*`. Immutable.
///
/// @param shape what all encoders have
/// @param patch pixels along a side of a patch
/// @param image pixels along a side of the picture that the encoder was made for
/// @param normalisation of samples
public record VisionKeys(EncoderShape shape, int patch, int image, Normalisation normalisation) {
    /// Key, after `clip.`, of the least rows of a picture: no file has it, the platform adds it where a user sets them.
    public static final String LEAST_ROWS = "vision.least_rows";

    /// Key, after `clip.`, of the most rows of a picture: no file has it, the platform adds it where a user sets them.
    public static final String MOST_ROWS = "vision.most_rows";

    /// Key, after `clip.`, of how a picture fills its size: no file has it, the platform adds it, with the value
    /// `stretch`, where a user wants that.
    public static final String FIT = "vision.fit";

    private static final int MOST = 1 << 16;

    /// Reads the keys.
    ///
    /// @param source metadata and tensor descriptions of the companion file
    /// @return the keys
    /// @throws ModelFormatException (`MODEL-001`, `MODEL-002`) if one is missing or impossible
    public static VisionKeys of(ModelSource source) {
        EncoderShape shape = EncoderShape.of(source, "vision");
        ModelKeys keys = shape.keys();
        int patch = keys.integer("vision.patch_size", 1, 1024);
        return new VisionKeys(
                shape,
                patch,
                keys.integer("vision.image_size", patch, MOST),
                Normalisation.of(threeOf(keys, "vision.image_mean"), threeOf(keys, "vision.image_std")));
    }

    /// {@return the keys of the companion file}
    public ModelKeys keys() {
        return shape.keys();
    }

    /// {@return the width of a row inside the encoder, `E`}
    public int width() {
        return shape.width();
    }

    /// {@return the number of layers}
    public int blocks() {
        return shape.blocks();
    }

    private static float[] threeOf(ModelKeys keys, String key) {
        return keys.numberPerLayer(key, 3, -1e6, 1e6);
    }

    /// {@return an integer that must be there, or a default}
    ///
    /// @param key after `clip.vision.`
    /// @param otherwise the default
    public int integerOr(String key, int otherwise) {
        return keys().integerOr("vision." + key, otherwise, 0, MOST);
    }

    /// {@return patches along a side of a block that makes one row, which the file may leave out}
    ///
    /// @param key after `clip.vision.`
    /// @param otherwise the default
    public int side(String key, int otherwise) {
        return keys().integerOr("vision." + key, otherwise, 1, 64);
    }

    /// {@return most rows of a picture whose size decides how many there are: as many as the model was trained with,
    ///     or fewer where a user wants that}
    ///
    /// @param trained those of the training
    public int mostRows(int trained) {
        return Math.min(trained, keys().integerOr(MOST_ROWS, trained, 1, Integer.MAX_VALUE));
    }

    /// {@return the bias of the embedding of patches, zeros if the file has none}
    ///
    /// @param tensors of the companion file
    public float[] patchBias(EncoderTensors tensors) {
        return keys().source().has("v.patch_embd.bias") ? tensors.values("v.patch_embd.bias") : new float[width()];
    }

    /// {@return a rotation of heads by places in a picture: one half of the pairs by the row, which
    ///     is axis 0, the other by the column; the frequencies of a half are every other one of the
    ///     head}
    ///
    /// @param pairing which two elements make a pair
    /// @param base of the frequencies
    /// @param firstAxis which axis has the first half of the pairs
    /// @param shift first frequency of the second half
    public RopeParams.Builder rotation(RopeParams.Pairing pairing, float base, int firstAxis, int shift) {
        int half = shape.headLength() / 4;
        List<Turn> turns = IntStream.range(0, 2 * half)
                .mapToObj(i -> i < half ? new Turn(firstAxis, 2 * i) : new Turn(1 - firstAxis, 2 * (i - half) + shift))
                .toList();
        return RopeParams.builder(shape.headLength(), pairing, base)
                .ropeDim(4 * half)
                .turns(turns);
    }

    /// {@return the rule for pictures of any size: in their proportions, rounded to whole rows of
    ///     the result}
    ///
    /// @param side patches along a side of what makes one row
    /// @param leastRows least rows of the result in the training; a user may want others
    /// @param mostRows most rows
    /// @param resizing how the picture gets its size
    public PictureRule anySize(int side, int leastRows, int mostRows, Resizing resizing) {
        int align = patch * side;
        long pixels = (long) align * align;
        int least = keys().integerOr(LEAST_ROWS, leastRows, 1, Integer.MAX_VALUE);
        return fitted(
                PictureRule.of(SizeRule.smart(align, Math.min(least, mostRows) * pixels, mostRows * pixels), resizing));
    }

    /// {@return the rule for pictures of one size, [#image()]}
    ///
    /// @param resizing how the picture gets its size; a user may want it stretched
    public PictureRule oneSize(Resizing resizing) {
        return fitted(PictureRule.of(SizeRule.fixed(image, image), resizing));
    }

    /// {@return a rule, or the same without keeping proportions where a user wants that ([#FIT]); the rules that are
    ///     made here are so already}
    ///
    /// @param rule an encoder's
    public PictureRule fitted(PictureRule rule) {
        return keys().text(FIT, "").equals("stretch") ? rule.stretched() : rule;
    }

    /// {@return the rule for pictures of one size, [#image()], after tiles of that size}
    ///
    /// @param grid how many tiles
    public PictureRule tiled(GridRule grid) {
        return fitted(oneSize(Resizing.stretch(Resampling.BILINEAR))
                .tiled(grid, tile(), Resizing.letterbox(Resampling.BICUBIC, 0)));
    }

    /// {@return a picture of the size that the encoder was made for}
    public Size tile() {
        return new Size(image, image);
    }

    /// {@return patches along a side of such a picture, which are whole blocks}
    ///
    /// @param side patches along a side of a block
    /// @throws ModelFormatException (`MODEL-002`) if they are not
    public int patchesOf(int side) {
        if (image % (patch * side) != 0) {
            throw keys().impossible("vision.image_size", image, "a multiple of " + patch + " pixels * " + side);
        }
        return image / patch;
    }
}
