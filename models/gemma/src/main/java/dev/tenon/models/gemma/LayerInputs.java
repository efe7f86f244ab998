package dev.tenon.models.gemma;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.blocks.DecoderBlocks;

/// What each layer of Gemma 3n and Gemma 4 gets beside its usual input: a projection of the embeddings, and a part of
/// a second table of embeddings.
final class LayerInputs {
    private LayerInputs() {}

    /// {@return the inputs of all layers, `[T, width * layers]`}
    ///
    /// @param x scaled embeddings, `[T, E]`
    /// @param width of a layer's input
    static Value of(DecoderBlocks d, Value x, int width) {
        GraphBuilder g = d.graph();
        ModelConfig c = d.config();
        int all = c.blockCount() * width;
        Value projected = g.scale(
                "per_layer_proj_scaled", d.linear("per_layer_model_proj", x, all), 1 / root(c.embeddingLength()));
        Value normed = d.rmsNorm("per_layer_proj_norm", projected, width);
        Weight table = new Weight("per_layer_token_embd.weight", all, c.vocabularySize());
        Value looked = g.scale("per_layer_embd_scaled", g.embedding("per_layer_embd", table), root(width));
        return g.scale("per_layer_inputs", g.add("per_layer_sum", normed, looked), 1 / root(2));
    }

    /// {@return what a layer makes of its input, `[T, E]`}
    ///
    /// @param x opens the input, `[T, E]`
    /// @param input `[T, width]`
    static Value gated(DecoderBlocks d, String blk, Value x, Value input) {
        GraphBuilder g = d.graph();
        Value gate = g.activate(blk + "inp_act", d.linear(blk + "inp_gate", x, input.width()), Activation.GELU_TANH);
        Value gated = g.multiply(blk + "inp_gated", gate, input);
        return d.rmsNorm(blk + "post_norm", d.linear(blk + "proj", gated, x.width()));
    }

    static float root(int number) {
        return (float) Math.sqrt(number);
    }
}
