package dev.tenon.api.media.encoder;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.media.MelSpectrogram;
import dev.tenon.api.model.ModelSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Adds the blocks of encoders of sounds, which are like Whisper's, to a graph.
///
/// Two convolutions over three frames each make a token of two frames of a spectrogram, the second of every other
/// result of the first. A token is given what it takes by [#rows]: around three frames, those before, of and after
/// each; then its position; then whether there is a frame before its own, as zeros or ones. Not safe for several
/// threads.
public final class SoundBlocks extends EncoderBlocks {
    /// Tokens of a piece of a sound.
    public static final int TOKENS = MelSpectrogram.PIECE_FRAMES / 2;

    private static final int TAPS = 3;
    private static final String FIRST = "a.conv1d.1";
    private static final String SECOND = "a.conv1d.2";

    private final int bins;

    /// Starts an empty graph.
    ///
    /// @param source metadata and tensor descriptions of the companion file
    public SoundBlocks(ModelSource source) {
        super(EncoderShape.of(source, "audio"), "a.", Norm.LAYER, Act.GELU_ERF);
        this.bins = shape().keys().integer("audio.num_mel_bins", 1, 200);
    }

    /// {@return filters of the spectrogram}
    public int bins() {
        return bins;
    }

    /// {@return the tokens before the blocks, `[T, E]`}
    public Value embedded() {
        int width = shape().width();
        int window = TAPS * bins;
        Value given = graph().givenRows("frames", TAPS * window + 2 * width);
        Value before = convolved(FIRST + "_before", FIRST, graph().slice("before", given, 1, 0, window));
        before = graph().multiply("first", before, graph().slice("there", given, 1, TAPS * window + width, width));
        Value own = convolved(FIRST + "_own", FIRST, graph().slice("own", given, 1, window, window));
        Value after = convolved(FIRST + "_after", FIRST, graph().slice("after", given, 1, 2 * window, window));
        Value all = graph().join("three", graph().join("two", before, own, 1), after, 1);
        Value x = convolved(SECOND, SECOND, graph().transpose("across", all, TAPS));
        return graph().add("embedded", x, graph().slice("places", given, 1, TAPS * window, width));
    }

    /// {@return the rows after all blocks, of which each sees the whole piece, `[T, E]`}
    ///
    /// @param x `[T, E]`
    public Value blocks(Value x) {
        AttentionParams all = attentionParams().build();
        return blocks(x, shape().blocks(), _ -> all, Optional.empty());
    }

    private Value convolved(String name, String tensor, Value x) {
        Weight weight = new Weight(tensor + ".weight", x.width(), shape().width());
        Value sum = graph().linear(name, x, weight, vector(tensor + ".bias", shape().width()));
        return graph().activate(name + "_act", sum, Activation.GELU_ERF);
    }

    /// {@return the means of neighbouring rows, two and two}
    ///
    /// @param joined `[L, 2 count * E]`
    /// @param count means in a row
    public Value pairs(Value joined, int count) {
        int width = shape().width();
        Value sum = graph().add(
                        "pairs",
                        graph().slice("even", joined, count, 0, width),
                        graph().slice("odd", joined, count, width, width));
        return graph().scale("means", sum, 0.5f);
    }

    /// {@return what the tokens of a piece of a sound are given}
    ///
    /// @param piece `[bins][3000]`
    /// @param positions `[1500][E]`
    public static List<float[]> rows(float[] piece, float[] positions) {
        int frames = MelSpectrogram.PIECE_FRAMES;
        int bins = piece.length / frames;
        int width = positions.length / TOKENS;
        int places = TAPS * TAPS * bins;
        List<float[]> rows = new ArrayList<>();
        for (int token = 0; token < TOKENS; token++) {
            float[] row = new float[places + 2 * width];
            for (int i = 0; i < places; i++) {
                int frame = 2 * token - 2 + i / (TAPS * bins) + i % TAPS;
                int bin = i / TAPS % bins;
                row[i] = frame < 0 || frame >= frames ? 0 : piece[bin * frames + frame];
            }
            System.arraycopy(positions, token * width, row, places, width);
            Arrays.fill(row, places + width, row.length, token == 0 ? 0 : 1);
            rows.add(row);
        }
        return rows;
    }
}
