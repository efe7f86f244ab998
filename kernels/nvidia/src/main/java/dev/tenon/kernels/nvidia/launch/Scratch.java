package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.BufferSpec;

/// Scratch memory that all kernels of a plan share, one after the other.
///
/// @param f16 float16 activations before a matrix product
/// @param normed float32 activations before a product in float32
/// @param partial partial sums of matrix products
/// @param counters counters of matrix products, zero between launches
/// @param attention partial sums of attention
/// @param attentionCounters counters of attention, zero between launches
/// @param attentionWords what blocks of attention leave for each other, zero between launches
/// @param candidates the best tokens of slices of the vocabulary
/// @param sampled the host's memory for sampled tokens, see [dev.tenon.kernels.nvidia.step.TokenRing]
/// @param masks the host's memory of masks, see [dev.tenon.kernels.nvidia.step.TokenMasks]
public record Scratch(
        BufferSpec f16,
        BufferSpec normed,
        BufferSpec partial,
        BufferSpec counters,
        BufferSpec attention,
        BufferSpec attentionCounters,
        BufferSpec attentionWords,
        BufferSpec candidates,
        BufferSpec sampled,
        BufferSpec masks) {
    public static Scratch of(BufferList buffers) {
        return new Scratch(
                buffers.add(BufferSpec.Kind.ACTIVATION, "float16 activations", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "normed activations", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "partial sums", 0),
                buffers.add(BufferSpec.Kind.ZEROED, "counters", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "partial attention", 0),
                buffers.add(BufferSpec.Kind.ZEROED, "attention counters", 0),
                buffers.add(BufferSpec.Kind.ZEROED, "attention words", 0),
                buffers.add(BufferSpec.Kind.ACTIVATION, "candidates", 0),
                buffers.add(BufferSpec.Kind.HOST, "sampled tokens", 0),
                buffers.add(BufferSpec.Kind.HOST, "masks of tokens", 0));
    }
}
