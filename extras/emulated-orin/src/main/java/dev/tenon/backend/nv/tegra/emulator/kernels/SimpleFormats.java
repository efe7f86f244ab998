package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.BYTE;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.f16;

import java.lang.foreign.MemorySegment;

/// The formats with blocks of 32 under one scale.
final class SimpleFormats {
    private SimpleFormats() {}

    /// Planes `int8[32]`, `d: f16`. Blocks 2i and 2i + 1 swap their parts, so that the lower parts of both
    /// come before the upper ones, unless the tensor has an odd number of blocks.
    static final class Q8 extends WeightFormat {
        Q8() {
            super(32, 34, 34);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            float d = f16(tensor, blocks * 32 + 2 * number);
            for (int i = 0; i < 32; i++) {
                out[at + i] = d * tensor.get(BYTE, place(blocks, number, i));
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 2, out, place(blocks, number, 0), 16);
            copy(in, 18, out, place(blocks, number, 16), 16);
            copy(in, 0, out, blocks * 32 + 2 * number, 2);
        }

        private static long place(long blocks, long number, int i) {
            boolean pairs = blocks % 2 == 0;
            return pairs ? (number & ~1L) * 32 + (i & 16) * 2 + (number & 1) * 16 + (i & 15) : number * 32 + i;
        }
    }

    /// Planes `uint8[16]`, `d: f16`; low nibbles are the first 16.
    static final class Q4 extends WeightFormat {
        Q4() {
            super(32, 18, 18);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            float d = f16(tensor, blocks * 16 + 2 * number);
            for (int i = 0; i < 16; i++) {
                int q = unsigned(tensor, number * 16 + i);
                out[at + i] = d * ((q & 15) - 8);
                out[at + 16 + i] = d * ((q >> 4) - 8);
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 2, out, number * 16, 16);
            copy(in, 0, out, blocks * 16 + 2 * number, 2);
        }
    }
}
