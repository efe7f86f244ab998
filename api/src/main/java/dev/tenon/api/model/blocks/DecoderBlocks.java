package dev.tenon.api.model.blocks;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.AttentionParams;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelKeys;
import dev.tenon.api.model.ModelSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

/// Adds the blocks of decoders to a graph, with the tensor names of GGUF.
///
/// Shapes come from the configuration, never from the file, so that a file that does not fit is refused when
/// its weights are looked up. What the file decides is whether a tensor that a family may leave out is there:
/// biases, the head, norms of queries and keys, and whether matrices are fused. A family that never leaves one
/// out says so ([#always(String...)], [#always(QkNorm)]). Not safe for several threads.
public final class DecoderBlocks {
    /// What norms of whole rows compute.
    public enum Norm {
        /// The root-mean-square norm.
        RMS,
        /// The layer norm, with a bias where the file has one.
        LAYER
    }

    /// What a norm of queries and keys spans.
    public enum QkNorm {
        /// Each head for itself, all with the same weight.
        HEADS,
        /// All heads of a token together.
        ROWS
    }

    private static final String LAYER_PREFIX = "blk.";

    private final ModelSource source;
    private final ModelConfig config;
    private final GraphBuilder graph;
    private final List<String> always = new ArrayList<>();
    /// Products with whole fused matrices that have a bias, by tensor and input.
    private final Map<List<Object>, Value> fusedProducts = new HashMap<>();
    /// The rows that come with tokens, once they are needed whole.
    private Value rows;

    private Norm norm = Norm.RMS;
    private Optional<QkNorm> qkNorm = Optional.empty();

    /// Starts an empty graph.
    ///
    /// @param source says which tensors are there
    /// @param config widths and counts
    public DecoderBlocks(ModelSource source, ModelConfig config) {
        this.source = source;
        this.config = config;
        this.graph = new GraphBuilder(config.architecture());
    }

    /// Names tensors that every file of the architecture has: the graph reads them even where the file does not have
    /// them, so that such a file is refused.
    ///
    /// @param tensors their names without the layer, such as `attn_q.bias`
    /// @return this
    public DecoderBlocks always(String... tensors) {
        for (String tensor : tensors) {
            always.add("." + tensor);
        }
        return this;
    }

    /// Says how every file of the architecture norms queries and keys; where nothing is said, the file decides.
    ///
    /// @param norm what a norm spans
    /// @return this
    public DecoderBlocks always(QkNorm norm) {
        qkNorm = Optional.of(norm);
        return this;
    }

    /// Says what [#norm(String, Value)], and so the norm before the logits, computes: an RMS norm where nothing is
    /// said.
    ///
    /// @param kind what norms compute; their epsilon is [ModelConfig#rmsEps()] either way
    /// @return this
    public DecoderBlocks norms(Norm kind) {
        norm = kind;
        return this;
    }

    /// {@return whether the file has a tensor, or always should}
    boolean has(String tensor) {
        return source.has(tensor) || always.stream().anyMatch(tensor::endsWith);
    }

    /// {@return whether a tensor belongs to a draft block, which the last `nextn_predict_layers` blocks are and which
    ///     the model is whole without}
    ///
    /// @param source metadata and tensor descriptions
    /// @param tensor its whole name
    public static boolean isDraft(ModelSource source, String tensor) {
        int blocks = ModelKeys.of(source).integer("block_count", 1, Integer.MAX_VALUE);
        for (int layer = blocks - drafts(source); layer < blocks; layer++) {
            if (tensor.startsWith(LAYER_PREFIX + layer + ".")) {
                return true;
            }
        }
        return false;
    }

    /// {@return how many draft blocks a file has}
    static int drafts(ModelSource source) {
        ModelKeys keys = ModelKeys.of(source);
        int blocks = keys.integerOr("block_count", Integer.MAX_VALUE, 1, Integer.MAX_VALUE);
        return keys.integerOr("nextn_predict_layers", 0, 0, blocks);
    }

    /// {@return what the file has}
    ModelSource source() {
        return source;
    }

    /// {@return the graph, for ops that are not here}
    public GraphBuilder graph() {
        return graph;
    }

    /// {@return widths and counts}
    public ModelConfig config() {
        return config;
    }

    /// {@return a vector, if the file has it}
    ///
    /// @param tensor its whole name
    /// @param length elements
    public Optional<Weight> vector(String tensor, int length) {
        return has(tensor) ? Optional.of(Weight.vector(tensor, length)) : Optional.empty();
    }

    /// {@return the embedding's table}
    public Weight embeddingTable() {
        return new Weight("token_embd.weight", config.embeddingLength(), config.vocabularySize());
    }

    /// {@return the embeddings of the tokens, or the rows that come with them ([ModelSource#rowWidth()]), `[T, E]`}
    public Value embedding() {
        return orRows(graph.embedding("embd", embeddingTable()));
    }

    /// {@return something of embeddings, or the rows that come with tokens where the model takes such; for an
    ///     architecture that changes embeddings, but not these}
    ///
    /// @param x `[T, E]`
    public Value orRows(Value x) {
        return source.rowWidth() == 0 ? x : graph.replaceRows("inputs", x);
    }

    /// {@return the residual stream after a layer, with the part of the rows that is for it (deepstack): what comes
    ///     after the first `E` elements is cut into parts of `E`, one for each of the first layers}
    ///
    /// @param layer which one, 0-based
    /// @param x `[T, E]`
    public Value deepened(int layer, Value x) {
        int width = config.embeddingLength();
        if ((layer + 2L) * width > source.rowWidth()) {
            return x;
        }
        if (rows == null) {
            rows = graph.givenRows("rows", source.rowWidth());
        }
        String name = LAYER_PREFIX + layer + ".deepened";
        return graph.add(name, x, graph.slice(name + "_rows", rows, 1, (layer + 1) * width, width));
    }

    /// {@return the norm of whole rows that the architecture uses ([#norms(Norm)])}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, width]`
    public Value norm(String name, Value x) {
        return norm == Norm.LAYER ? layerNorm(name, x) : rmsNorm(name, x);
    }

    /// {@return the RMS norm of whole rows, with a bias if the file has one}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, width]`
    public Value rmsNorm(String name, Value x) {
        Value normed = rmsNorm(name, x, x.width());
        return vector(name + ".bias", x.width())
                .map(bias -> graph.add(name + "_biased", normed, graph.repeat(name + "_bias", bias)))
                .orElse(normed);
    }

    /// {@return the RMS norm of groups of a row, such as heads}
    ///
    /// @param name of the value and, with `.weight`, of the tensor
    /// @param x `[T, width]`
    /// @param group elements of a group
    public Value rmsNorm(String name, Value x, int group) {
        return graph.rmsNorm(name, x, Weight.vector(name + ".weight", group), config.rmsEps());
    }

    /// {@return the layer norm of whole rows, with a bias if the file has one}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, width]`
    public Value layerNorm(String name, Value x) {
        Optional<Weight> bias = vector(name + ".bias", x.width());
        return graph.layerNorm(name, x, Weight.vector(name + ".weight", x.width()), bias, config.rmsEps());
    }

    /// {@return the product with a matrix, with a bias if the file has one, `[T, rows]`}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, cols]`
    /// @param rows rows of the matrix
    public Value linear(String name, Value x, int rows) {
        return graph.linear(name, x, new Weight(name + ".weight", x.width(), rows), vector(name + ".bias", rows));
    }

    /// {@return the product with some rows of a matrix that holds several, with their part of the bias if the file has
    ///     one, `[T, to - from]`}
    ///
    /// With a bias the whole matrix is multiplied once, and its parts are cut out of the result.
    ///
    /// @param name of the tensors, with `.weight` and `.bias`
    /// @param valueName of the value
    /// @param x `[T, cols]`
    /// @param tensorRows rows of the whole matrix
    /// @param from first row
    /// @param to row after the last
    public Value linearRows(String name, String valueName, Value x, int tensorRows, int from, int to) {
        if (has(name + ".bias")) {
            Value whole = fusedProducts.computeIfAbsent(List.of(name, x), key -> linear(name, x, tensorRows));
            return graph.slice(valueName, whole, 1, from, to - from);
        }
        Weight part = new Weight(name + ".weight", x.width(), tensorRows).rows(from, to);
        return graph.linear(valueName, x, part, Optional.empty());
    }

    /// {@return the key and value heads of each layer (`attention.head_count_kv`); 0 for one without attention}
    ///
    /// @throws dev.tenon.api.error.ModelFormatException (`MODEL-001`, `MODEL-002`) if the key is missing, or a
    ///     number does not divide that of the query heads
    public int[] headCountsKv() {
        ModelKeys keys = ModelKeys.of(source);
        int heads = config.headCount();
        int[] counts = keys.perLayer("attention.head_count_kv", config.blockCount(), 0, heads);
        for (int layer = 0; layer < counts.length; layer++) {
            if (counts[layer] > 0 && heads % counts[layer] != 0) {
                throw keys.impossible(
                        "attention.head_count_kv",
                        counts[layer] + " for layer " + layer,
                        "a divisor of " + heads + " heads");
            }
        }
        return counts;
    }

    /// {@return causal attention of the configuration's heads, scaled by the root of their length, with the sinks
    ///     that the file has}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    public AttentionParams.Builder attentionParams(String blk) {
        return attentionParams(blk, config.headCountKv());
    }

    /// {@return the same with key heads of the layer's own number}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param headCountKv its key and value heads
    public AttentionParams.Builder attentionParams(String blk, int headCountKv) {
        float scale = (float) (1 / Math.sqrt(config.keyLength()));
        return AttentionParams.builder(config.headCount(), headCountKv, scale)
                .sinks(vector(blk + "attn_sinks.weight", config.headCount()));
    }

    /// {@return self-attention from the normed input to the projection of its result, `[T, E]`}
    ///
    /// Projects with `attn_q`, `attn_k` and `attn_v`, or with the rows of `attn_qkv`; norms queries and keys where
    /// the file has `attn_q_norm` and `attn_k_norm`: heads or whole rows, as long as those are; rotates;
    /// attends; projects with `attn_output`.
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    /// @param layer index of the KV cache layer
    /// @param params how to attend
    /// @param rope how to rotate queries and keys, or empty
    public Value attention(String blk, Value x, int layer, AttentionParams params, Optional<RopeParams> rope) {
        return attention(blk, x, layer, params, rope, UnaryOperator.identity());
    }

    /// {@return self-attention as above, with something done to the rotated queries}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    /// @param layer index of the KV cache layer
    /// @param params how to attend
    /// @param rope how to rotate queries and keys, or empty
    /// @param queries adds what follows the rotation of queries, such as a scale by position
    public Value attention(
            String blk,
            Value x,
            int layer,
            AttentionParams params,
            Optional<RopeParams> rope,
            UnaryOperator<Value> queries) {
        int qWidth = params.headCount() * config.keyLength();
        int kWidth = params.headCountKv() * config.keyLength();
        int vWidth = params.headCountKv() * config.valueLength();
        Value q = projection(blk, "attn_q", x, qWidth, 0, qWidth + kWidth + vWidth);
        Value k = projection(blk, "attn_k", x, kWidth, qWidth, qWidth + kWidth + vWidth);
        Value v = projection(blk, "attn_v", x, vWidth, qWidth + kWidth, qWidth + kWidth + vWidth);
        q = queries.apply(rotated(blk + "q_rope", maybeNormed(blk + "attn_q_norm", q), rope));
        k = rotated(blk + "k_rope", maybeNormed(blk + "attn_k_norm", k), rope);
        Value attended = graph.attention(blk + "attn", q, k, v, layer, params);
        return linear(blk + "attn_output", attended, config.embeddingLength());
    }

    private Value projection(String blk, String name, Value x, int rows, int from, int allRows) {
        return source.has(blk + "attn_qkv.weight")
                ? linearRows(blk + "attn_qkv", blk + name, x, allRows, from, from + rows)
                : linear(blk + name, x, rows);
    }

    /// Where the architecture does not say, a norm as long as a head norms heads, any other the whole row.
    private Value maybeNormed(String name, Value x) {
        return qkNorm.or(() -> source.tensor(name + ".weight")
                        .map(t -> t.cols() == config.keyLength() ? QkNorm.HEADS : QkNorm.ROWS))
                .map(norm -> rmsNorm(name, x, norm == QkNorm.HEADS ? config.keyLength() : x.width()))
                .orElse(x);
    }

    /// {@return the rotated value, or itself}
    ///
    /// @param name of the value
    /// @param x `[T, heads * headDim]`
    /// @param rope how to rotate, or empty
    public Value rotated(String name, Value x, Optional<RopeParams> rope) {
        return rope.map(r -> graph.rope(name, x, r)).orElse(x);
    }

    /// {@return a gated feed-forward layer, `down(activation(gate(x)) * up(x))`, `[T, E]`}
    ///
    /// The matrices are `ffn_gate`, `ffn_up` and `ffn_down`; without the first, an `ffn_up` of twice as many rows
    /// holds those of the gate in front of its own.
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param suffix of the tensors' names, such as `_shexp` for a shared expert, or empty
    /// @param x `[T, E]`
    /// @param width elements between the matrices; 0, as in [ModelConfig#feedForwardLength()] where the file has no
    ///     such key, is refused with `MODEL-001`
    /// @param activation of the gate
    public Value gated(String blk, String suffix, Value x, int width, Activation activation) {
        checkWidth(width);
        String name = blk + "ffn_up" + suffix;
        boolean fused = !source.has(blk + "ffn_gate" + suffix + ".weight")
                && source.tensor(name + ".weight")
                        .filter(up -> up.rows() == 2L * width)
                        .isPresent();
        Value gate = fused
                ? linearRows(name, blk + "ffn_gate" + suffix, x, 2 * width, 0, width)
                : linear(blk + "ffn_gate" + suffix, x, width);
        Value up = fused ? linearRows(name, name, x, 2 * width, width, 2 * width) : linear(name, x, width);
        Value hidden = graph.multiply(
                blk + "ffn_hidden" + suffix, graph.activate(blk + "ffn_act" + suffix, gate, activation), up);
        return linear(blk + "ffn_down" + suffix, hidden, config.embeddingLength());
    }

    /// {@return a feed-forward layer without a gate, `down(activation(up(x)))`, `[T, E]`}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param suffix of the tensors' names, such as `_shexp` for a shared expert, or empty
    /// @param x `[T, E]`
    /// @param width elements between `ffn_up` and `ffn_down`; 0 is refused, as for [#gated]
    /// @param activation what is between them
    public Value feedForward(String blk, String suffix, Value x, int width, Activation activation) {
        checkWidth(width);
        Value up = linear(blk + "ffn_up" + suffix, x, width);
        Value hidden = graph.activate(blk + "ffn_act" + suffix, up, activation);
        return linear(blk + "ffn_down" + suffix, hidden, config.embeddingLength());
    }

    /// A file of experts may leave out the width of layers without: then it must have no such layer.
    private void checkWidth(int width) {
        if (width == 0) {
            throw source.metadata().missing(ModelKeys.of(source).nameOf("feed_forward_length"));
        }
    }

    /// {@return the router's choice for each token}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    /// @param shape how experts are chosen; `exp_probs_b.bias` is added where the file has it
    public ExpertOp.Router router(String blk, Value x, ExpertShape shape) {
        Value logits = linear(blk + "ffn_gate_inp", x, shape.count());
        return graph.router(
                blk + "router",
                logits,
                shape.router()
                        .bias(vector(blk + "exp_probs_b.bias", shape.count()))
                        .build());
    }

    /// {@return a layer of gated experts, `[T, E]`: the weighted sum of `down(activation(gate(x)) * up(x))` of the
    ///     chosen ones}
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`
    /// @param router the choice
    /// @param shape counts and widths
    /// @param activation of the gate
    public Value experts(String blk, Value x, ExpertOp.Router router, ExpertShape shape, Activation activation) {
        return experts(
                blk,
                x,
                router,
                shape,
                (gate, up) -> graph.multiply(
                        blk + "ffn_hidden_exps", graph.activate(blk + "ffn_act_exps", gate, activation), up));
    }

    /// {@return a layer of experts, `[T, E]`: the weighted sum of `down(combine(gate(x), up(x)))` of the chosen
    ///     ones}
    ///
    /// Where the file has `ffn_down_exps.scale`, a number for each expert, results are multiplied by it, too.
    ///
    /// @param blk prefix of the layer's tensors, such as `blk.0.`
    /// @param x `[T, E]`, or `[T, used * E]`
    /// @param router the choice
    /// @param shape counts and widths
    /// @param combine adds what is between the matrices, given the products with gate and up
    public Value experts(
            String blk, Value x, ExpertOp.Router router, ExpertShape shape, BinaryOperator<Value> combine) {
        boolean fused = source.has(blk + "ffn_gate_up_exps.weight");
        Value gate = gateOrUp(blk, "ffn_gate_exps", fused, 0, x, router, shape);
        Value up = gateOrUp(blk, "ffn_up_exps", fused, shape.width(), x, router, shape);
        Value hidden = combine.apply(gate, up);
        Value down = expert(blk + "ffn_down_exps", hidden, router, shape, shape.width(), config.embeddingLength());
        return graph.weightedSum(blk + "ffn_moe", down, shares(blk, router, shape));
    }

    /// The number of an expert is a matrix of one element, which multiplies its weight instead of its result.
    private Value shares(String blk, ExpertOp.Router router, ExpertShape shape) {
        String name = blk + "ffn_down_exps.scale";
        return has(name)
                ? graph.expertLinear(
                        blk + "shares",
                        router.shares(),
                        router.chosen(),
                        new Weight(name, 1, 1, shape.count()),
                        Optional.empty())
                : router.shares();
    }

    private Value gateOrUp(
            String blk, String name, boolean fused, int from, Value x, ExpertOp.Router router, ExpertShape shape) {
        int width = shape.width();
        if (!fused) {
            return expert(blk + name, x, router, shape, config.embeddingLength(), width);
        }
        Weight both = new Weight(blk + "ffn_gate_up_exps.weight", config.embeddingLength(), 2 * width, shape.count());
        return graph.expertLinear(blk + name, x, router.chosen(), both.rows(from, from + width), Optional.empty());
    }

    /// {@return the products with the matrices of the chosen experts, with biases if the file has them}
    ///
    /// @param name of the value and, with `.weight` and `.bias`, of the tensors
    /// @param x `[T, cols]`, or `[T, used * cols]`
    /// @param router the choice
    /// @param shape counts
    /// @param cols elements that a matrix multiplies
    /// @param rows rows of each matrix
    public Value expert(String name, Value x, ExpertOp.Router router, ExpertShape shape, int cols, int rows) {
        Optional<Weight> bias =
                has(name + ".bias") ? Optional.of(new Weight(name + ".bias", rows, shape.count())) : Optional.empty();
        Weight weight = new Weight(name + ".weight", cols, rows, shape.count());
        return graph.expertLinear(name, x, router.chosen(), weight, bias);
    }

    /// {@return the normed last rows, which are also the output `hidden`, `[L, E]`}
    ///
    /// Where the file has draft blocks, those of all tokens are the output `hidden_rows`.
    ///
    /// @param x `[T, E]`
    public Value hidden(Value x) {
        if (drafts(source) > 0) {
            graph.output(Graph.HIDDEN_ROWS, norm("output_norm", x));
        }
        // A bias that is an op of its own is added to all rows.
        Value hidden = norm == Norm.RMS && has("output_norm.bias")
                ? graph.selectRows("selected", norm("output_norm", x))
                : norm("output_norm", graph.selectRows("selected", x));
        graph.output(Graph.HIDDEN, hidden);
        return hidden;
    }

    /// {@return the logits, by `output.weight` or, without it, by the embedding, with `output.bias` if the file has it,
    ///     `[L, nVocab]`}
    ///
    /// @param hidden `[L, E]`
    public Value logits(Value hidden) {
        Weight head = source.has("output.weight")
                ? new Weight("output.weight", config.embeddingLength(), config.vocabularySize())
                : embeddingTable();
        return graph.linear("logits", hidden, head, vector("output.bias", config.vocabularySize()));
    }

    /// Ends the graph of a usual decoder: norm, then logits.
    ///
    /// @param x `[T, E]`
    /// @return the graph
    public Graph build(Value x) {
        return graph.build(logits(hidden(x)));
    }
}
