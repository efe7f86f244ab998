package dev.tenon.kernels.nvidia.plan;

import dev.tenon.kernels.nvidia.BufferSpec;

/// Scratch memory that all kernels of a plan share, one after the other.
///
/// @param half float16 activations in front of a matrix product
/// @param partial partial sums of matrix products
/// @param counters counters of matrix products, zero between launches
/// @param attention partial sums of attention
/// @param attentionCounters counters of attention, zero between launches
/// @param attentionWords what blocks of attention leave for each other, zero between launches
/// @param candidates the best tokens of slices of the vocabulary
/// @param chosen the host's memory for chosen tokens, see [TokenRing]
record Scratch(
        BufferSpec half,
        BufferSpec partial,
        BufferSpec counters,
        BufferSpec attention,
        BufferSpec attentionCounters,
        BufferSpec attentionWords,
        BufferSpec candidates,
        BufferSpec chosen) {
    static Scratch of(BufferList buffers) {
        return new Scratch(
                buffers.add(BufferSpec.Kind.ACTIVATION, "float16 activations", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "partial sums", 0),
                buffers.add(BufferSpec.Kind.ZEROED, "counters", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "partial attention", 0),
                buffers.add(BufferSpec.Kind.ZEROED, "attention counters", 0),
                buffers.add(BufferSpec.Kind.ZEROED, "attention words", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "candidates", 0),
                buffers.add(BufferSpec.Kind.HOST, "chosen tokens", 0));
    }
}
