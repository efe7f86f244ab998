package dev.tenon.api.media.encoder;

import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelKeys;
import java.util.Optional;
import java.util.function.IntFunction;

/// Adds the blocks of encoders of pictures to a graph.
///
/// Each token is a patch. It is given its pixels, [#pixels()] of them in the order channel, row, column, and after
/// these a row of [VisionKeys#width()] elements that is added to its embedding: its position, and the bias of the
/// embedding. Not safe for several threads.
public final class VisionBlocks extends EncoderBlocks {
    private static final int CHANNELS = 3;

    private final VisionKeys keys;

    /// Starts an empty graph. The file says what the feed-forward layers have between their matrices.
    ///
    /// @param keys of the companion file
    /// @param norm what norms compute
    public VisionBlocks(VisionKeys keys, Norm norm) {
        super(keys.shape(), "v.", norm, act(keys.keys()));
        this.keys = keys;
    }

    private static Act act(ModelKeys keys) {
        boolean gelu = keys.flag("use_gelu", false);
        boolean silu = keys.flag("use_silu", false);
        if (gelu && silu) {
            throw keys.impossible("use_silu", true, "false beside use_gelu");
        }
        return gelu ? Act.GELU : silu ? Act.SILU : Act.QUICK_GELU;
    }

    /// {@return samples of a patch}
    public int pixels() {
        return CHANNELS * keys.patch() * keys.patch();
    }

    /// {@return the embeddings of the patches with what they are given beside their pixels, `[T, E]`}
    public Value embedded() {
        Value given = given(keys.width());
        return graph().add("embedded", convolved(given), places(given));
    }

    /// {@return what the patches are given, `[T, pixels + more]`}
    ///
    /// @param more elements beside the pixels
    public Value given(int more) {
        return graph().givenRows("patches", pixels() + more);
    }

    /// {@return what is to be added to embeddings, `[T, E]`}
    ///
    /// @param given `[T, pixels + E]`
    public Value places(Value given) {
        return graph().slice("places", given, 1, pixels(), keys.width());
    }

    /// {@return the products of pixels and kernels, without a bias, `[T, E]`; a still picture is
    ///     both halves where the file has kernels for two moments}
    ///
    /// @param given `[T, pixels]`, or more, of which the first are the pixels
    public Value convolved(Value given) {
        Value pixels = graph().slice("pixels", given, 1, 0, pixels());
        Value first = kernels("v.patch_embd.weight", pixels);
        return has("v.patch_embd.weight.1")
                ? graph().add("patch_embd", first, kernels("v.patch_embd.weight.1", pixels))
                : first;
    }

    private Value kernels(String tensor, Value pixels) {
        return graph().linear(tensor, pixels, new Weight(tensor, pixels(), keys.width()), Optional.empty());
    }

    /// {@return the rows after the first blocks, and after the norm behind the last one if the file
    ///     has it, `[T, E]`}
    ///
    /// @param x `[T, E]`
    /// @param layers how many blocks
    /// @param params how to attend in each
    /// @param rope how to rotate queries and keys, or empty
    public Value encoded(Value x, int layers, IntFunction<AttentionParams> params, Optional<RopeParams> rope) {
        return maybeNorm("v.post_ln", blocks(x, layers, params, rope));
    }

    /// {@return the rows after all blocks, of which each sees all patches, `[T, E]`}
    ///
    /// @param x `[T, E]`
    /// @param rope how to rotate queries and keys, or empty
    public Value encoded(Value x, Optional<RopeParams> rope) {
        AttentionParams all = attentionParams().build();
        return encoded(x, keys.blocks(), _ -> all, rope);
    }
}
