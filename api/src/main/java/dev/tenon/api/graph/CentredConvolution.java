package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;

/// Convolution of each channel by itself, over the tokens around: `out[t, i] = sum_j weight[i, j] *
/// x[t - (taps - 1) / 2 + j, i] (+ bias[i])` with `j` from 0 to `taps - 1`, where `x` is 0 outside of the sequence.
///
/// A token sees those after it: as with attention without a mask, a sequence has to be in one step.
/// [StateOp.ShortConvolution] is the causal one.
///
/// @param x `[T, width]`
/// @param weight `[width, taps]`
/// @param bias `[width]` or empty
/// @param out `[T, width]`
public record CentredConvolution(Value x, Weight weight, Optional<Weight> bias, Value out) implements Op {
    /// Checks the shapes.
    public CentredConvolution {
        Shapes.convolution("centred_convolution", x, weight, bias, out);
    }

    /// {@return how many tokens a result sees}
    public int taps() {
        return weight.cols();
    }

    /// {@return how many of them come before the token}
    public int before() {
        return (taps() - 1) / 2;
    }

    @Override
    public String kind() {
        return "centred_convolution";
    }

    @Override
    public List<Value> inputs() {
        return List.of(x);
    }

    @Override
    public List<Value> outputs() {
        return List.of(out);
    }

    @Override
    public List<Weight> weights() {
        return bias.isPresent() ? List.of(weight, bias.get()) : List.of(weight);
    }
}
