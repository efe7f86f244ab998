package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaFragment;

/// Turns a third party's block decoder into the header that the kernels' sources expect of a
/// format.
final class FragmentHeader {
    /// Weights that the kernels take from a block at once.
    private static final int TAKEN = 8;

    private FragmentHeader() {}

    /// {@return the name by which the sources include it}
    ///
    /// @param id the format's name on the device
    static String name(String id) {
        return "format_" + id + ".cuh";
    }

    /// {@return whether the kernels can take such blocks: whole groups of 8 weights}
    static boolean fits(int blockSize) {
        return blockSize % TAKEN == 0;
    }

    /// {@return the header's text: the decoder and a struct around it}
    ///
    /// @param format the format, with a fragment
    static String text(DeviceFormat format) {
        CudaFragment fragment = format.fragment().orElseThrow();
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
