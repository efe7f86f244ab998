package dev.tenon.kernels.nvidia.launch;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.RopeParams;

/// The numbers that kernels take for a choice among several ways to compute, as the CUDA sources have
/// them. A test compares the two.
public final class KernelCodes {
    private KernelCodes() {}

    /// {@return the `activation` of kernels: see `activated` in `common.cuh`}
    ///
    /// @param activation the function
    public static int of(Activation activation) {
        return switch (activation) {
            case SILU -> 0;
            case GELU_TANH -> 1;
            case RELU -> 2;
            case RELU_SQUARED -> 3;
            case SIGMOID -> 4;
            case TANH -> 5;
            case GELU_ERF -> 6;
        };
    }

    /// {@return the `pairing` of kernels: see `rope` in `small.cu`}
    ///
    /// @param pairing which elements are rotated together
    public static int of(RopeParams.Pairing pairing) {
        return switch (pairing) {
            case INTERLEAVED -> 0;
            case HALF_SPLIT -> 1;
        };
    }
}
