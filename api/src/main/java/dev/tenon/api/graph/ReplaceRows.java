package dev.tenon.api.graph;

import java.util.List;

/// Puts rows that come with tokens ([dev.tenon.api.device.StepInput#row]), such as those of a picture, in the place of
/// others: `out[t] = row[t]` from its first element on where token `t` has a row, else `x[t]`.
///
/// @param x `[T, width]`
/// @param out `[T, width]`
public record ReplaceRows(Value x, Value out) implements Op {
    /// Checks the widths.
    public ReplaceRows {
        Shapes.sameWidth("replace_rows", out, x);
    }

    @Override
    public String kind() {
        return "replace_rows";
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
