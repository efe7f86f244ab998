package dev.tenon.platform.core.media;

import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;
import dev.tenon.api.media.Sound;
import dev.tenon.api.media.encoder.EncoderStep;
import dev.tenon.api.media.encoder.EncoderTensors;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.media.encoder.MediaPrompt;
import dev.tenon.platform.core.placement.Placement;
import java.util.ArrayList;
import java.util.List;

/// The rows of a small picture or a short sound, which tell whether an encoder computes the same on another placement.
public final class TrialMedia implements MediaPrompt {
    private static final Size SIZE = new Size(80, 64);
    private static final int RATE = 16_000;

    private final Placement placement;
    private final List<float[]> rows = new ArrayList<>();

    private TrialMedia(Placement placement) {
        this.placement = placement;
    }

    /// Encodes it. Nobody else uses the placement meanwhile.
    ///
    /// @param placement an encoder's
    /// @param tensors of its file
    /// @return its rows
    public static float[][] rows(Placement placement, EncoderTensors tensors) {
        TrialMedia trial = new TrialMedia(placement);
        switch (placement.layout().orElseThrow()) {
            case MediaLayout.OfPictures pictures -> pictures.lay(picture(), tensors, trial);
            case MediaLayout.OfSounds sounds -> sounds.lay(sound(), tensors, trial);
        }
        return trial.rows.toArray(float[][]::new);
    }

    private static Picture picture() {
        return Picture.of(SIZE, (y, rgb) -> {
            for (int i = 0; i < rgb.length; i++) {
                rgb[i] = (byte) (3 * i + 5 * y + i * y);
            }
        });
    }

    private static Sound sound() {
        float[] samples = new float[RATE / 2];
        for (int i = 0; i < samples.length; i++) {
            samples[i] = (float) Math.sin(i * (0.05 + i * 1e-5)) / 2;
        }
        return Sound.of(samples, RATE);
    }

    @Override
    public void text(String text) {
        // rows alone are compared
    }

    @Override
    public void token(String token) {
        // as above
    }

    @Override
    public void rows(EncoderStep step, int columns, boolean together) {
        rows.addAll(EncoderRun.rows(placement, step));
    }

    @Override
    public void lines(EncoderStep step, int columns, float[] between) {
        rows(step, columns, false);
    }
}
