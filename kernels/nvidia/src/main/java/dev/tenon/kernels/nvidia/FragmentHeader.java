package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaFragment;

/// Turns a third party's block decoder into the header that the kernels' sources expect of a
/// format.
final class FragmentHeader {
    /// Weights that the kernels take from a block at once.
    private static final int TAKEN = 8;

    private FragmentHeader() {}

    /// {@return whether the kernels can take such blocks: whole groups of 8 weights}
    static boolean fits(int blockSize) {
        return blockSize % TAKEN == 0;
    }

    /// {@return the header's text: the decoder and a struct around it}
    ///
    /// @param format the format
    /// @param fragment its decoder
    static String text(DeviceFormat format, CudaFragment fragment) {
        return """
                // %s, for blocks of %d weights in %d bytes.
                #pragma once

                %s

                struct %s {
                    static constexpr int BLOCK = %d;
                    static constexpr int BYTES = %d;

                    static __device__ void decode8(const unsigned char* block, int first, float* out) {
                        float values[BLOCK];
                        %s(block, values);
                        for (int i = 0; i < BLOCK; i++) {
                            if (i >= first && i < first + 8) {
                                out[i - first] = values[i];
                            }
                        }
                    }
                };
                """.formatted(
                        fragment.name(),
                        format.blockSize(),
                        format.blockBytes(),
                        fragment.source(),
                        format.id(),
                        format.blockSize(),
                        format.blockBytes(),
                        fragment.function());
    }
}
