package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.BYTE;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.f16;

import java.lang.foreign.MemorySegment;

/// The formats with a nibble for each weight that is an index into a table, or has a minimum or a fifth bit beside it.
final class NibbleFormats {
    private static final byte[] UNEVEN = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    private static final byte[] E2M1 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

    private NibbleFormats() {}

    /// Indices of 32 weights: that of weight `16n + 4i + k` is in word i, bits `16n + 4k` and up.
    private static void repackIndices(MemorySegment in, long from, MemorySegment out, long to) {
        for (int i = 0; i < 4; i++) {
            int word = 0;
            for (int k = 0; k < 4; k++) {
                int both = unsignedAt(in, from + 4 * i + k);
                word |= (both & 15) << 4 * k | both >> 4 << 16 + 4 * k;
            }
            out.set(Arrays.INT, to + 4 * i, word);
        }
    }

    private static int index(MemorySegment words, long at, int i) {
        return words.get(Arrays.INT, at + 4 * (i >> 2 & 3)) >>> 16 * (i >> 4) + 4 * (i & 3) & 15;
    }

    private static int unsignedAt(MemorySegment memory, long at) {
        return memory.get(BYTE, at) & 0xFF;
    }

    /// IQ4_NL. Planes `indices: u32[4]`, `d: f16`.
    static final class Uneven extends WeightFormat {
        Uneven() {
            super(32, 18, 18);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            float d = f16(tensor, blocks * 16 + 2 * number);
            for (int i = 0; i < 32; i++) {
                out[at + i] = d * UNEVEN[index(tensor, number * 16, i)];
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            repackIndices(in, 2, out, number * 16);
            copy(in, 0, out, blocks * 16 + 2 * number, 2);
        }
    }

    /// MXFP4. Planes `indices: u32[4]`, `e: uint8`.
    static final class Mx extends WeightFormat {
        Mx() {
            super(32, 17, 17);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            float d = (float) Math.pow(2, unsigned(tensor, blocks * 16 + number) - 128);
            for (int i = 0; i < 32; i++) {
                out[at + i] = d * E2M1[index(tensor, number * 16, i)];
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            repackIndices(in, 1, out, number * 16);
            copy(in, 0, out, blocks * 16 + number, 1);
        }
    }

    /// IQ4_XS. Planes `indices: u32[32]`, `scales: int8[8]`, `d: f16`. The indices of sub-block `2j + s` stand at
    /// `64s + 16j`.
    static final class UnevenSub extends WeightFormat {
        UnevenSub() {
            super(256, 136, 138);
        }

        private static long place(long number, int sub) {
            return number * 128 + 64 * (sub & 1) + 16 * (sub >> 1);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            float d = f16(tensor, blocks * 136 + 2 * number);
            for (int i = 0; i < 256; i++) {
                int sub = i >> 5;
                float scale = d * tensor.get(BYTE, blocks * 128 + number * 8 + sub);
                out[at + i] = scale * UNEVEN[index(tensor, place(number, sub), i & 31)];
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            int high = in.get(Arrays.SHORT, 2);
            for (int sub = 0; sub < 8; sub++) {
                repackIndices(in, 8 + 16 * sub, out, place(number, sub));
                int scale = unsigned(in, 4 + sub / 2) >> 4 * (sub % 2) & 15 | (high >> 2 * sub & 3) << 4;
                out.set(BYTE, blocks * 128 + number * 8 + sub, (byte) (scale - 32));
            }
            copy(in, 0, out, blocks * 136 + 2 * number, 2);
        }
    }

    /// The fifth bit of weight `16n + l` is bit `8 (l % 4) + 4n + l / 4` of its block's word.
    private static int fifthPlace(int i) {
        return 8 * (i & 3) + 4 * (i >> 4) + (i >> 2 & 3);
    }

    private static int repackFifths(int bits) {
        int word = 0;
        for (int i = 0; i < 32; i++) {
            word |= (bits >>> i & 1) << fifthPlace(i);
        }
        return word;
    }

    private static int level(MemorySegment tensor, long qs, int fifths, int i) {
        return unsignedAt(tensor, qs + (i & 15)) >> 4 * (i >> 4) & 15 | (fifths >>> fifthPlace(i) & 1) << 4;
    }

    /// Q5_0. Planes `qs: uint8[16]`, `fifths: u32`, `d: f16`.
    static final class Q5 extends WeightFormat {
        Q5() {
            super(32, 22, 22);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            int fifths = tensor.get(Arrays.INT, blocks * 16 + 4 * number);
            float d = f16(tensor, blocks * 20 + 2 * number);
            for (int i = 0; i < 32; i++) {
                out[at + i] = d * (level(tensor, number * 16, fifths, i) - 16);
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 6, out, number * 16, 16);
            out.set(Arrays.INT, blocks * 16 + 4 * number, repackFifths(in.get(Arrays.INT, 2)));
            copy(in, 0, out, blocks * 20 + 2 * number, 2);
        }
    }

    /// Q4_1. Planes `qs: uint8[16]`, `{d, -m}: f16[2]`.
    static final class Q41 extends WeightFormat {
        Q41() {
            super(32, 20, 20);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            long factors = blocks * 16 + 4 * number;
            for (int i = 0; i < 32; i++) {
                int level = unsigned(tensor, number * 16 + (i & 15)) >> 4 * (i >> 4) & 15;
                out[at + i] = f16(tensor, factors) * level - f16(tensor, factors + 2);
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 4, out, number * 16, 16);
            copy(in, 0, out, blocks * 16 + 4 * number, 2);
            short minimum = in.get(Arrays.SHORT, 2);
            out.set(Arrays.SHORT, blocks * 16 + 4 * number + 2, (short) (minimum ^ Short.MIN_VALUE));
        }
    }

    /// Q5_1. Planes `qs: uint8[16]`, `fifths: u32`, `{d, m}: f16[2]`.
    static final class Q51 extends WeightFormat {
        Q51() {
            super(32, 24, 24);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            int fifths = tensor.get(Arrays.INT, blocks * 16 + 4 * number);
            long factors = blocks * 20 + 4 * number;
            for (int i = 0; i < 32; i++) {
                int level = level(tensor, number * 16, fifths, i);
                out[at + i] = f16(tensor, factors) * level + f16(tensor, factors + 2);
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 8, out, number * 16, 16);
            out.set(Arrays.INT, blocks * 16 + 4 * number, repackFifths(in.get(Arrays.INT, 4)));
            copy(in, 0, out, blocks * 20 + 4 * number, 4);
        }
    }
}
