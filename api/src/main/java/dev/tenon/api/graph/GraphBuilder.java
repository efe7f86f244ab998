package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Builds a [Graph] op by op; each method adds one op and returns the value it defines. Not safe for
/// several threads.
public final class GraphBuilder {
    private final String name;
    private final List<Op> ops = new ArrayList<>();
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
    /// @param table `[nVocab, width]`
    /// @return `[T, width]`
    public Value embedding(String valueName, Weight table) {
        Value out = value(valueName, table.cols());
        add(new CoreOp.Embedding(table, out));
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

    /// Adds a [CoreOp.Attention] without window and cap.
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
        Value out = value(valueName, v.width() / headCountKv * headCount);
        add(new CoreOp.Attention(q, k, v, layer, headCount, headCountKv, scale, 0, 0, out));
        return out;
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

    /// Ends the graph.
    ///
    /// @param output the logits
    /// @return the graph
    public Graph build(Value output) {
        return new Graph(name, ops, output);
    }
}
