package dev.tenon.api.media.encoder;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.Optional;
import java.util.function.IntFunction;

/// Adds the blocks of encoders to a graph, with the tensor names of companion files. What a file may leave out of a
/// block is there if its tensor is. Not safe for several threads.
public abstract sealed class EncoderBlocks permits SoundBlocks, VisionBlocks {
    /// What norms compute.
    public enum Norm {
        /// Layer norms, with a bias where the file has one.
        LAYER,
        /// Root-mean-square norms.
        RMS
    }

    /// What the feed-forward layer has between its matrices.
    public enum Act {
        /// GELU in its tanh form.
        GELU,
        /// GELU as it is defined.
        GELU_ERF,
        /// SiLU.
        SILU,
        /// `x * sigmoid(1.702 x)`.
        QUICK_GELU
    }

    private static final float QUICK = 1.702f;

    private final EncoderShape shape;
    private final String prefix;
    private final Norm norm;
    private final Act act;
    private final GraphBuilder graph;
    private boolean valuesNormed;

    EncoderBlocks(EncoderShape shape, String prefix, Norm norm, Act act) {
        this.shape = shape;
        this.prefix = prefix;
        this.norm = norm;
        this.act = act;
        this.graph = new GraphBuilder("encoder " + prefix);
    }

    /// {@return what all encoders have}
    public EncoderShape shape() {
        return shape;
    }

    /// {@return the graph, for ops that are not here}
    public GraphBuilder graph() {
        return graph;
    }

    /// {@return whether the file has a tensor}
    ///
    /// @param tensor its whole name
    public boolean has(String tensor) {
        return shape.keys().source().has(tensor);
    }

    /// {@return a norm of whole rows, with the epsilon of the file}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, width]`
    public Value norm(String name, Value x) {
        return norm == Norm.LAYER ? layerNorm(name, x, shape.eps()) : rmsNorm(name, x, x.width());
    }

    /// {@return the norm if the file has it, or the rows as they are}
    ///
    /// @param name as above
    /// @param x `[T, width]`
    public Value maybeNorm(String name, Value x) {
        return has(name + ".weight") ? norm(name, x) : x;
    }

    /// {@return a layer norm of whole rows}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, width]`
    /// @param eps added to the variance
    public Value layerNorm(String name, Value x, float eps) {
        return layerNorm(name, x, x.width(), eps);
    }

    /// {@return a layer norm of groups}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, width]`
    /// @param group elements of a group
    /// @param eps added to the variance
    public Value layerNorm(String name, Value x, int group, float eps) {
        return graph.layerNorm(name, x, Weight.vector(name + ".weight", group), vector(name + ".bias", group), eps);
    }

    /// {@return an RMS norm of groups, such as heads, with the epsilon of the file}
    ///
    /// @param name of the value and, with `.weight`, of the tensor
    /// @param x `[T, width]`
    /// @param group elements of a group
    public Value rmsNorm(String name, Value x, int group) {
        return graph.rmsNorm(name, x, Weight.vector(name + ".weight", group), shape.eps());
    }

    /// {@return the product with a matrix, with a bias if the file has one, `[T, rows]`; both the
    ///     rows and the product are clamped where the file says so (`NAME.input_min` and the like)}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, cols]`
    /// @param rows rows of the matrix
    public Value linear(String name, Value x, int rows) {
        Weight weight = new Weight(name + ".weight", x.width(), rows);
        return clamped(
                name, "output", graph.linear(name, clamped(name, "input", x), weight, vector(name + ".bias", rows)));
    }

    private Value clamped(String name, String end, Value x) {
        String limit = name + "." + end;
        Optional<Weight> least = vector(limit + "_min", 1);
        Optional<Weight> most = vector(limit + "_max", 1);
        return least.isPresent() || most.isPresent() ? graph.clamp(limit, x, least, most) : x;
    }

    /// {@return the product with a matrix of as many rows as the file's has}
    ///
    /// @param name as above
    /// @param x `[T, cols]`
    public Value linear(String name, Value x) {
        return linear(name, x, rowsOf(name + ".weight"));
    }

    /// {@return rows of a matrix of the file; 1 where it does not have it, which is refused when weights are looked up}
    ///
    /// @param tensor its whole name
    public int rowsOf(String tensor) {
        return shape.keys()
                .source()
                .tensor(tensor)
                .map(info -> Math.toIntExact(info.rows()))
                .orElse(1);
    }

    Optional<Weight> vector(String tensor, int length) {
        return has(tensor) ? Optional.of(Weight.vector(tensor, length)) : Optional.empty();
    }

    /// {@return what the file says to have between matrices}
    ///
    /// @param name of the value
    /// @param x `[T, width]`
    public Value activated(String name, Value x) {
        return switch (act) {
            case GELU -> graph.activate(name, x, Activation.GELU_TANH);
            case GELU_ERF -> graph.activate(name, x, Activation.GELU_ERF);
            case SILU -> graph.activate(name, x, Activation.SILU);
            case QUICK_GELU ->
                graph.multiply(
                        name,
                        x,
                        graph.activate(name + "_gate", graph.scale(name + "_in", x, QUICK), Activation.SIGMOID));
        };
    }

    /// {@return attention over all patches of a picture, scaled by the root of a head's length}
    public AttentionParams.Builder attentionParams() {
        return AttentionParams.builder(shape.heads(), shape.heads(), (float) (1 / Math.sqrt(shape.headLength())))
                .causal(false);
    }

    /// Norms values, without a weight, in the blocks that are added from now on.
    public void normValues() {
        valuesNormed = true;
    }

    /// {@return the rows after the first blocks, `[T, E]`}
    ///
    /// @param x `[T, E]`
    /// @param layers how many
    /// @param params how to attend in each
    /// @param rope how to rotate queries and keys, or empty
    public Value blocks(Value x, int layers, IntFunction<AttentionParams> params, Optional<RopeParams> rope) {
        Value rows = x;
        for (int layer = 0; layer < layers; layer++) {
            rows = block(layer, rows, params.apply(layer), rope);
        }
        return rows;
    }

    /// {@return the product of two matrices with GELU between them, `[L, width]`}
    ///
    /// @param x `[L, cols]`
    /// @param first name of the first matrix, without `.weight`
    /// @param second name of the second one
    /// @param width rows of the second one
    public Value projected(Value x, String first, String second, int width) {
        return linear(second, graph.activate(first + "_act", linear(first, x), Activation.GELU_TANH), width);
    }

    /// {@return the mean of the rows of each block of patches, `[L, E]`}
    ///
    /// @param x `[T, E]`
    /// @param count patches of a block
    public Value means(Value x, int count) {
        Value joined = graph.joinRows("joined", x, count); //                                  [L, count * E]
        Value mean = graph.groupMean("mean", graph.transpose("across", joined, count), x.width());
        return graph.slice("means", mean, x.width(), 0, 1);
    }

    /// {@return the rows after a block: attention, then a feed-forward layer, each after a norm and
    ///     added to what it reads, `[T, E]`}
    ///
    /// @param layer which one, 0-based
    /// @param x `[T, E]`
    /// @param params how to attend
    /// @param rope how to rotate queries and keys, or empty
    public Value block(int layer, Value x, AttentionParams params, Optional<RopeParams> rope) {
        String blk = prefix + "blk." + layer + ".";
        Value attended = attention(blk, norm(blk + "ln1", x), layer, params, rope);
        attended = maybeNorm(blk + "attn_post_norm", scaled(blk + "ls1", attended));
        Value sum = graph.add(blk + "attn_residual", x, attended);
        Value forward = forward(blk, norm(blk + "ln2", sum));
        forward = maybeNorm(blk + "ffn_post_norm", scaled(blk + "ls2", forward));
        return scaled(blk + "out_scale", graph.add(blk + "ffn_residual", sum, forward));
    }

    /// {@return the rows times a vector, if the file has it}
    private Value scaled(String name, Value x) {
        return vector(name + ".weight", x.width())
                .map(weight -> graph.multiply(name + "_scaled", x, graph.repeat(name, weight)))
                .orElse(x);
    }

    private Value attention(String blk, Value x, int layer, AttentionParams params, Optional<RopeParams> rope) {
        int width = shape.heads() * shape.headLength();
        Value q;
        Value k;
        Value v;
        if (has(blk + "attn_qkv.weight")) {
            Value all = linear(blk + "attn_qkv", x, 3 * width);
            q = graph.slice(blk + "attn_q", all, 1, 0, width);
            k = graph.slice(blk + "attn_k", all, 1, width, width);
            v = graph.slice(blk + "attn_v", all, 1, 2 * width, width);
        } else {
            q = linear(blk + "attn_q", x, width);
            k = linear(blk + "attn_k", x, width);
            v = linear(blk + "attn_v", x, width);
        }
        q = rotated(blk + "q_rope", headsNormed(blk + "attn_q_norm", q), rope);
        k = rotated(blk + "k_rope", headsNormed(blk + "attn_k_norm", k), rope);
        v = valuesNormed ? graph.plainRmsNorm(blk + "v_norm", v, shape.heads(), shape.eps()) : v;
        return linear(blk + "attn_out", graph.attention(blk + "attn", q, k, v, layer, params), shape.width());
    }

    private Value headsNormed(String name, Value x) {
        return has(name + ".weight") ? rmsNorm(name, x, shape.headLength()) : x;
    }

    private Value rotated(String name, Value x, Optional<RopeParams> rope) {
        return rope.map(how -> graph.rope(name, x, how)).orElse(x);
    }

    /// Old converters wrote `ffn_up` and `ffn_down` exchanged: the one that reads the row is the first.
    private Value forward(String blk, Value x) {
        boolean exchanged = shape.keys()
                .source()
                .tensor(blk + "ffn_down.weight")
                .filter(down -> down.cols() == shape.width() && down.rows() == shape.forward())
                .isPresent();
        String in = blk + (exchanged && shape.width() != shape.forward() ? "ffn_down" : "ffn_up");
        String out = blk + (exchanged && shape.width() != shape.forward() ? "ffn_up" : "ffn_down");
        Value up = linear(in, x, shape.forward());
        Value hidden = has(blk + "ffn_gate.weight")
                ? graph.multiply(
                        blk + "ffn_gated", activated(blk + "ffn_act", linear(blk + "ffn_gate", x, shape.forward())), up)
                : activated(blk + "ffn_act", up);
        return linear(out, hidden, shape.width());
    }
}
