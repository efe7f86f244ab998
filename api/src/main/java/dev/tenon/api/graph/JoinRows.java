package dev.tenon.api.graph;

import java.util.List;

/// Keeps the rows whose logits are wanted in this step, in their order, each together with those before it: row `l` of
/// the result holds `count` rows of `x`, of which the last is the one that is wanted. An encoder of pictures makes one
/// row of neighbouring patches so.
///
/// Works on `L` rows as [CoreOp.SelectRows] does, which is the same with one row. The rows before have to be in the
/// step and of the same sequence.
///
/// @param x `[T, width]`
/// @param count how many rows make one, at least 1
/// @param out `[L, count * width]`
public record JoinRows(Value x, int count, Value out) implements Op {
    /// Checks the widths.
    public JoinRows {
        Shapes.check(
                count > 0 && out.width() == (long) count * x.width(),
                "join_rows",
                "of " + count + " rows of " + x,
                out);
    }

    @Override
    public String kind() {
        return "join_rows";
    }

    @Override
    public List<Value> inputs() {
        return List.of(x);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }
}
