package dev.tenon.kernels.x86.block;

import java.util.function.Supplier;

/// Inner parts of loops that are written by hand for one format, because they are faster than what follows from its
/// layout; with AVX-512 only.
///
/// @param streams how four rows are multiplied with one token at once; gives null if they are one after the other
/// @param pairs how two rows are multiplied with some tokens at once; gives null if they are not
/// @param quads how four rows are multiplied with some tokens; gives null if they are not
public record MicroKernels(
        Supplier<StreamMicroKernel> streams, Supplier<PairMicroKernel> pairs, Supplier<QuadMicroKernel> quads) {
    /// None at all.
    public static final MicroKernels NONE = new MicroKernels(() -> null, () -> null, () -> null);
}
