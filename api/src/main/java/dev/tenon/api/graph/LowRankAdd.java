package dev.tenon.api.graph;

import java.util.ArrayList;
import java.util.List;

/// Adds to a projection what low-rank adapters (Hu et al. 2021) change of it, for the rows of those
/// sequences that use them: `out[t] = base[t] + sum_i s_i[t] * factor_i * B_i (A_i x[t])`.
///
/// `s_i[t]` is the scale that the sequence of row `t` gives adapter `i`
/// ([dev.tenon.api.device.StepInput#adapterScale]). Where it is 0 the adapter adds nothing: a row
/// whose scales are all 0 equals `base`, bit for bit.
///
/// @param x `[T, cols]`, what the projection reads
/// @param base `[T, rows]`, what the projection computes
/// @param parts the adapters that change the projection, at least one
/// @param out `[T, rows]`
public record LowRankAdd(Value x, Value base, List<Part> parts, Value out) implements Op {
    /// The change of one adapter.
    ///
    /// @param adapter which of the model's adapters, 0-based
    /// @param a `[rank, cols]`
    /// @param b `[rows, rank]`
    /// @param factor factor beside the sequence's scale
    public record Part(int adapter, Weight a, Weight b, float factor) {}

    /// Checks the shapes.
    public LowRankAdd {
        parts = List.copyOf(parts);
        Shapes.sameWidth("low_rank_add", out, base);
        Shapes.check(!parts.isEmpty(), "low_rank_add", "has no adapter; expected at least one", out);
        for (Part part : parts) {
            boolean fits = part.adapter >= 0
                    && Float.isFinite(part.factor)
                    && part.a.slices() == 1
                    && part.b.slices() == 1
                    && part.a.cols() == x.width()
                    && part.b.rows() == out.width()
                    && part.b.cols() == part.a.rows();
            Shapes.check(fits, "low_rank_add", "has " + part + ", which does not fit its input " + x, out);
        }
    }

    @Override
    public String kind() {
        return "low_rank_add";
    }

    @Override
    public List<Value> inputs() {
        return List.of(x, base);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }

    @Override
    public List<Weight> weights() {
        List<Weight> weights = new ArrayList<>();
        for (Part part : parts) {
            weights.add(part.a);
            weights.add(part.b);
        }
        return weights;
    }
}
