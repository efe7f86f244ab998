package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Builds a [Graph] op by op; each method adds one op and returns the value it defines. Values and weights
/// that do not fit together are refused with `IllegalArgumentException`, naming them. Not safe for several
/// threads.
public final class GraphBuilder {
    private final String name;
    private final List<Op> ops = new ArrayList<>();
    private final Map<String, Value> outputs = new LinkedHashMap<>();
    private int nextId;

    /// Starts an empty graph.
    ///
    /// @param name what reports call the graph
    public GraphBuilder(String name) {
        this.name = name;
    }

    /// Makes a value for an op that is added with [#add(Op)].
    ///
    /// @param valueName what diagnostics call it
    /// @param width elements in a row
    /// @return a value with a fresh id
    public Value value(String valueName, int width) {
        return new Value(nextId++, valueName, width);
    }

    /// Adds any op, such as a [CustomOp]; its outputs come from [#value(String, int)].
    ///
    /// @param op the op
    public void add(Op op) {
        ops.add(op);
    }

    /// Adds an [CoreOp.Embedding].
    ///
    /// @param valueName name of the result
    /// @param table `[vocabularySize, width]`
    /// @return `[T, width]`
    public Value embedding(String valueName, Weight table) {
        Value out = value(valueName, table.cols());
        add(new CoreOp.Embedding(table, out));
        return out;
    }

    /// Adds a [GivenRows].
    ///
    /// @param valueName name of the result
    /// @param width elements in a row
    /// @return `[T, width]`
    public Value givenRows(String valueName, int width) {
        Value out = value(valueName, width);
        add(new GivenRows(out));
        return out;
    }

    /// Adds a [CoreOp.PositionEmbedding].
    ///
    /// @param valueName name of the result
    /// @param table `[nPositions, width]`
    /// @return `[T, width]`
    public Value positionEmbedding(String valueName, Weight table) {
        Value out = value(valueName, table.cols());
        add(new CoreOp.PositionEmbedding(table, out));
        return out;
    }

    /// Adds a [CoreOp.Repeat].
    ///
    /// @param valueName name of the result
    /// @param row `[width]`
    /// @return `[T, width]`
    public Value repeat(String valueName, Weight row) {
        Value out = value(valueName, row.cols());
        add(new CoreOp.Repeat(row, out));
        return out;
    }

    /// Adds a [CoreOp.RmsNorm].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param weight `[group]`
    /// @param eps added to the mean square
    /// @return `[T, width]`
    public Value rmsNorm(String valueName, Value x, Weight weight, float eps) {
        Value out = value(valueName, x.width());
        add(new CoreOp.RmsNorm(x, weight, eps, out));
        return out;
    }

    /// Adds a [CoreOp.LayerNorm].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param weight `[group]`
    /// @param bias `[group]` or empty
    /// @param eps added to the variance
    /// @return `[T, width]`
    public Value layerNorm(String valueName, Value x, Weight weight, Optional<Weight> bias, float eps) {
        Value out = value(valueName, x.width());
        add(new CoreOp.LayerNorm(x, weight, bias, eps, out));
        return out;
    }

    /// Adds a [CoreOp.Linear].
    ///
    /// @param valueName name of the result
    /// @param x `[T, cols]`
    /// @param weight `[rows, cols]`
    /// @param bias `[rows]` or empty
    /// @return `[T, rows]`
    public Value linear(String valueName, Value x, Weight weight, Optional<Weight> bias) {
        Value out = value(valueName, weight.rows());
        add(new CoreOp.Linear(x, weight, bias, out));
        return out;
    }

    /// Adds a [CoreOp.Rope].
    ///
    /// @param valueName name of the result
    /// @param x `[T, heads * headDim]`
    /// @param params how to rotate
    /// @return same shape
    public Value rope(String valueName, Value x, RopeParams params) {
        Value out = value(valueName, x.width());
        add(new CoreOp.Rope(x, params, out));
        return out;
    }

    /// Adds a [CoreOp.Attention].
    ///
    /// @param valueName name of the result
    /// @param q `[T, headCount * keyLength]`
    /// @param k `[T, headCountKv * keyLength]`
    /// @param v `[T, headCountKv * valueLength]`
    /// @param layer KV cache layer
    /// @param params how to attend
    /// @return `[T, headCount * valueLength]`
    public Value attention(String valueName, Value q, Value k, Value v, int layer, AttentionParams params) {
        Value out = value(valueName, Math.max(1, v.width() / params.headCountKv() * params.headCount()));
        add(new CoreOp.Attention(q, k, v, layer, params, out));
        return out;
    }

    /// Adds a [SelectPositions].
    ///
    /// @param valueName name of the result
    /// @param q `[T, heads * keyLength]`
    /// @param shares `[T, heads]`
    /// @param k `[T, keyLength]`
    /// @param layer KV cache layer
    /// @param count how many positions a token gets, at most
    /// @return `[T, count]`
    public Value selectPositions(String valueName, Value q, Value shares, Value k, int layer, int count) {
        Value out = value(valueName, count);
        add(new SelectPositions(q, shares, k, layer, out));
        return out;
    }

    /// Adds a causal [CoreOp.Attention] without window, cap and sinks.
    ///
    /// @param valueName name of the result
    /// @param q `[T, headCount * keyLength]`
    /// @param k `[T, headCountKv * keyLength]`
    /// @param v `[T, headCountKv * valueLength]`
    /// @param layer KV cache layer
    /// @param headCount query heads
    /// @param headCountKv key and value heads
    /// @param scale factor on scores
    /// @return `[T, headCount * valueLength]`
    public Value attention(
            String valueName, Value q, Value k, Value v, int layer, int headCount, int headCountKv, float scale) {
        return attention(
                valueName,
                q,
                k,
                v,
                layer,
                AttentionParams.builder(headCount, headCountKv, scale).build());
    }

    /// Adds a [CoreOp.Add].
    ///
    /// @param valueName name of the result
    /// @param a `[T, width]`
    /// @param b `[T, width]`
    /// @return `[T, width]`
    public Value add(String valueName, Value a, Value b) {
        Value out = value(valueName, a.width());
        add(new CoreOp.Add(a, b, out));
        return out;
    }

    /// Adds a [CoreOp.Multiply].
    ///
    /// @param valueName name of the result
    /// @param a `[T, width]`
    /// @param b `[T, width]`
    /// @return `[T, width]`
    public Value multiply(String valueName, Value a, Value b) {
        Value out = value(valueName, a.width());
        add(new CoreOp.Multiply(a, b, out));
        return out;
    }

    /// Adds a [CoreOp.Activate].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param activation the function
    /// @return `[T, width]`
    public Value activate(String valueName, Value x, Activation activation) {
        Value out = value(valueName, x.width());
        add(new CoreOp.Activate(x, activation, out));
        return out;
    }

    /// Adds a [CoreOp.Scale].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param factor the factor
    /// @return `[T, width]`
    public Value scale(String valueName, Value x, float factor) {
        Value out = value(valueName, x.width());
        add(new CoreOp.Scale(x, factor, out));
        return out;
    }

    /// Adds a [CoreOp.SoftCap].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param cap the cap
    /// @return `[T, width]`
    public Value softCap(String valueName, Value x, float cap) {
        Value out = value(valueName, x.width());
        add(new CoreOp.SoftCap(x, cap, out));
        return out;
    }

    /// Adds a [CoreOp.SelectRows].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @return `[L, width]`
    public Value selectRows(String valueName, Value x) {
        Value out = value(valueName, x.width());
        add(new CoreOp.SelectRows(x, out));
        return out;
    }

    /// Adds a [CoreOp.Pool].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param pooling how
    /// @return `[L, width]`
    public Value pool(String valueName, Value x, Pooling pooling) {
        Value out = value(valueName, x.width());
        add(new CoreOp.Pool(x, pooling, out));
        return out;
    }

    /// Adds a [PartOp.GroupedRmsNorm].
    ///
    /// @param valueName name of the result
    /// @param x `[T, groups * length]`
    /// @param weight `[groups, length]`
    /// @param eps added to the mean square
    /// @return `[T, groups * length]`
    public Value groupedRmsNorm(String valueName, Value x, Weight weight, float eps) {
        Value out = value(valueName, x.width());
        add(new PartOp.GroupedRmsNorm(x, weight, eps, out));
        return out;
    }

    /// Adds a [PartOp.GroupedLayerNorm].
    ///
    /// @param valueName name of the result
    /// @param x `[T, groups * length]`
    /// @param weight `[groups, length]`
    /// @param eps added to the variance
    /// @return `[T, groups * length]`
    public Value groupedLayerNorm(String valueName, Value x, Weight weight, float eps) {
        Value out = value(valueName, x.width());
        add(new PartOp.GroupedLayerNorm(x, weight, eps, out));
        return out;
    }

    /// Adds a [PositionScale].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param gain factor on the logarithm
    /// @param offset added to positions
    /// @param period positions after which the factor grows
    /// @return `[T, width]`
    public Value positionScale(String valueName, Value x, float gain, int offset, int period) {
        Value out = value(valueName, x.width());
        add(new PositionScale(x, gain, offset, period, out));
        return out;
    }

    /// Adds a [PartOp.PlainRmsNorm].
    ///
    /// @param valueName name of the result
    /// @param x `[T, groups * length]`
    /// @param groups how many groups a row has
    /// @param eps added to the mean square
    /// @return `[T, groups * length]`
    public Value plainRmsNorm(String valueName, Value x, int groups, float eps) {
        Value out = value(valueName, x.width());
        add(new PartOp.PlainRmsNorm(x, groups, eps, out));
        return out;
    }

    /// Adds a [PartOp.GroupMean].
    ///
    /// @param valueName name of the result
    /// @param x `[T, groups * length]`
    /// @param groups how many groups a row has
    /// @return `[T, groups * length]`
    public Value groupMean(String valueName, Value x, int groups) {
        Value out = value(valueName, x.width());
        add(new PartOp.GroupMean(x, groups, out));
        return out;
    }

    /// Adds a [CentredConvolution].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param weight `[width, taps]`
    /// @param bias `[width]` or empty
    /// @return `[T, width]`
    public Value centredConvolution(String valueName, Value x, Weight weight, Optional<Weight> bias) {
        Value out = value(valueName, x.width());
        add(new CentredConvolution(x, weight, bias, out));
        return out;
    }

    /// Adds a [ReplaceRows].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @return `[T, width]`
    public Value replaceRows(String valueName, Value x) {
        Value out = value(valueName, x.width());
        add(new ReplaceRows(x, out));
        return out;
    }

    /// Adds a [PartOp.Transpose].
    ///
    /// @param valueName name of the result
    /// @param x `[T, groups * length]`
    /// @param groups how many groups a row has
    /// @return `[T, length * groups]`
    public Value transpose(String valueName, Value x, int groups) {
        Value out = value(valueName, x.width());
        add(new PartOp.Transpose(x, groups, out));
        return out;
    }

    /// Adds a [PartOp.TransposedLinear].
    ///
    /// @param valueName name of the result
    /// @param x `[T, rows]`
    /// @param weight `[rows, cols]`
    /// @return `[T, cols]`
    public Value transposedLinear(String valueName, Value x, Weight weight) {
        Value out = value(valueName, weight.cols());
        add(new PartOp.TransposedLinear(x, weight, out));
        return out;
    }

    /// Adds a [PartOp.Clamp].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param least `[1]` or empty
    /// @param most `[1]` or empty
    /// @return `[T, width]`
    public Value clamp(String valueName, Value x, Optional<Weight> least, Optional<Weight> most) {
        Value out = value(valueName, x.width());
        add(new PartOp.Clamp(x, least, most, out));
        return out;
    }

    /// Adds a [JoinRows].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param count how many rows make one
    /// @return `[L, count * width]`
    public Value joinRows(String valueName, Value x, int count) {
        Value out = value(valueName, Math.multiplyExact(count, x.width()));
        add(new JoinRows(x, count, out));
        return out;
    }

    /// Adds a [PartOp.HeadLinear].
    ///
    /// @param valueName name of the result
    /// @param x `[T, heads * cols]`
    /// @param weight `[heads, rows, cols]`
    /// @return `[T, heads * rows]`
    public Value headLinear(String valueName, Value x, Weight weight) {
        Value out = value(valueName, (int) Math.min(Integer.MAX_VALUE, (long) weight.slices() * weight.rows()));
        add(new PartOp.HeadLinear(x, weight, out));
        return out;
    }

    /// Adds a [PartOp.Join].
    ///
    /// @param valueName name of the result
    /// @param a `[T, groups * n]`
    /// @param b `[T, groups * m]`
    /// @param groups how many groups a row has
    /// @return `[T, groups * (n + m)]`
    public Value join(String valueName, Value a, Value b, int groups) {
        Value out = value(valueName, Math.addExact(a.width(), b.width()));
        add(new PartOp.Join(a, b, groups, out));
        return out;
    }

    /// Adds a [PartOp.Slice].
    ///
    /// @param valueName name of the result
    /// @param x `[T, groups * group]`
    /// @param groups how many groups a row has
    /// @param from first element of a group that is kept
    /// @param length elements of a group that are kept
    /// @return `[T, groups * length]`
    public Value slice(String valueName, Value x, int groups, int from, int length) {
        Value out = value(valueName, groups * length);
        add(new PartOp.Slice(x, groups, from, out));
        return out;
    }

    /// Adds a [StateOp.ShortConvolution].
    ///
    /// @param valueName name of the result
    /// @param x `[T, width]`
    /// @param weight `[width, taps]`
    /// @param bias `[width]` or empty
    /// @return `[T, width]`
    public Value shortConvolution(String valueName, Value x, Weight weight, Optional<Weight> bias) {
        Value out = value(valueName, x.width());
        add(new StateOp.ShortConvolution(x, weight, bias, out));
        return out;
    }

    /// Adds a [CoreOp.SwigluOai].
    ///
    /// @param valueName name of the result
    /// @param gate `[T, width]`
    /// @param up `[T, width]`
    /// @param alpha slope of the sigmoid
    /// @param limit where both are clamped
    /// @return `[T, width]`
    public Value swigluOai(String valueName, Value gate, Value up, float alpha, float limit) {
        Value out = value(valueName, gate.width());
        add(new CoreOp.SwigluOai(gate, up, alpha, limit, out));
        return out;
    }

    /// Adds an [ExpertOp.Router].
    ///
    /// @param valueName name of the results
    /// @param logits `[T, experts]`
    /// @param params how to choose
    /// @return the op, which holds its two results
    public ExpertOp.Router router(String valueName, Value logits, RouterParams params) {
        Value chosen = value(valueName + ".chosen", params.used());
        Value shares = value(valueName + ".shares", params.used());
        ExpertOp.Router router = new ExpertOp.Router(logits, params, chosen, shares);
        add(router);
        return router;
    }

    /// Adds an [ExpertOp.ExpertLinear].
    ///
    /// @param valueName name of the result
    /// @param x `[T, cols]`, or `[T, used * cols]`
    /// @param chosen `[T, used]`
    /// @param weight `[experts, rows, cols]`
    /// @param bias `[experts, rows]` or empty
    /// @return `[T, used * rows]`
    public Value expertLinear(String valueName, Value x, Value chosen, Weight weight, Optional<Weight> bias) {
        Value out = value(valueName, (int) Math.min(Integer.MAX_VALUE, (long) chosen.width() * weight.rows()));
        add(new ExpertOp.ExpertLinear(x, chosen, weight, bias, out));
        return out;
    }

    /// Adds an [ExpertOp.WeightedSum].
    ///
    /// @param valueName name of the result
    /// @param x `[T, used * width]`
    /// @param shares `[T, used]`
    /// @return `[T, width]`
    public Value weightedSum(String valueName, Value x, Value shares) {
        Value out = value(valueName, Math.max(1, x.width() / shares.width()));
        add(new ExpertOp.WeightedSum(x, shares, out));
        return out;
    }

    /// Makes a value an output beside the default one.
    ///
    /// @param outputName what callers ask for, such as `hidden`
    /// @param value a value of this graph
    /// @throws IllegalArgumentException if there is an output of that name
    public void output(String outputName, Value value) {
        if (outputs.putIfAbsent(outputName, value) != null) {
            throw new IllegalArgumentException("graph " + name + " has two outputs " + outputName);
        }
    }

    /// Ends the graph.
    ///
    /// @param output the default output: logits or embeddings
    /// @return the graph
    public Graph build(Value output) {
        return new Graph(name, ops, output, outputs);
    }
}
