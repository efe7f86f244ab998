package dev.tenon.api.graph;

import java.util.List;

/// Rows that come with the tokens of a step ([dev.tenon.api.device.StepInput#row]), such as hidden
/// states of another graph: `out[t] = row[t]`, or 0 for a token that has none.
///
/// @param out `[T, width]`
public record GivenRows(Value out) implements Op {
    @Override
    public String kind() {
        return "given_rows";
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }
}
