package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.BYTE;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.f16;

import java.lang.foreign.MemorySegment;

/// The formats with blocks of 256. In Q6_K, Q3_K and Q2_K, for h, s in 0..1, p in 0..3 and l in
/// 0..15, element `128h + 32p + 16s + l` belongs to sub-block `8h + 2p + s`, whose scale stands at
/// `8h + 4s + p` on the device.
final class KFormats {
    private static final int BLOCK = 256;

    private KFormats() {}

    /// Where the scale of a sub-block stands on the device.
    private static int place(int subBlock) {
        return (subBlock & 8) + 4 * (subBlock & 1) + (subBlock >> 1 & 3);
    }

    /// Planes `{a, b, c: uint8[64]}`, `scales: int8[16]`, `d: f16`. Byte `32h + 16s + l` of a, b and c has
    /// the levels of p = 0, 1 and 2 in its upper six bits; in the lower two, bits 0-1, 2-3 and 4-5 of
    /// the level of p = 3.
    static final class Q6K extends WeightFormat {
        Q6K() {
            super(BLOCK, 210, 210);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            long q = number * 192;
            float d = f16(tensor, blocks * 208 + 2 * number);
            for (int sub = 0; sub < 16; sub++) {
                int h = sub >> 3;
                int p = sub >> 1 & 3;
                int s = sub & 1;
                float factor = d * tensor.get(BYTE, blocks * 192 + number * 16 + place(sub));
                for (int l = 0; l < 16; l++) {
                    int level = 0;
                    for (int plane = 0; plane < 3; plane++) {
                        int bits = unsigned(tensor, q + 64 * plane + 32 * h + 16 * s + l);
                        level |= p == 3 ? (bits & 3) << 2 * plane : p == plane ? bits >> 2 : 0;
                    }
                    out[at + 16 * sub + l] = factor * (level - 32);
                }
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            for (int i = 0; i < 64; i++) {
                int[] levels = new int[4];
                for (int p = 0; p < 4; p++) {
                    int low = unsigned(in, (i & 32) * 2 + 32 * (p & 1) + (i & 31)) >> 4 * (p >> 1) & 15;
                    levels[p] = low | (unsigned(in, 128 + i) >> 2 * p & 3) << 4;
                }
                for (int plane = 0; plane < 3; plane++) {
                    int bits = levels[plane] << 2 | levels[3] >> 2 * plane & 3;
                    out.set(BYTE, number * 192 + 64 * plane + i, (byte) bits);
                }
            }
            for (int sub = 0; sub < 16; sub++) {
                copy(in, 192 + sub, out, blocks * 192 + number * 16 + place(sub), 1);
            }
            copy(in, 208, out, blocks * 208 + 2 * number, 2);
        }
    }

    /// Planes `{hmask: uint8[32], qs: uint8[64]}`, `scales: int8[16]` less 32, `d: f16`.
    static final class Q3K extends WeightFormat {
        Q3K() {
            super(BLOCK, 110, 114);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            long q = number * 96;
            float d = f16(tensor, blocks * 112 + 2 * number);
            for (int sub = 0; sub < 16; sub++) {
                int h = sub >> 3;
                int p = sub >> 1 & 3;
                int s = sub & 1;
                float factor = d * tensor.get(BYTE, blocks * 96 + number * 16 + place(sub));
                for (int l = 0; l < 16; l++) {
                    int low = unsigned(tensor, q + 32 + 32 * h + 16 * s + l) >> 2 * p & 3;
                    int high = unsigned(tensor, q + 16 * s + l) >> 4 * h + p & 1;
                    out[at + 16 * sub + l] = factor * ((low | high << 2) - 4);
                }
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 0, out, number * 96, 96);
            for (int sub = 0; sub < 16; sub++) {
                int low = unsigned(in, 96 + (sub & 7)) >> (sub < 8 ? 0 : 4) & 15;
                int high = unsigned(in, 96 + 8 + (sub & 3)) >> 2 * (sub >> 2) & 3;
                out.set(BYTE, blocks * 96 + number * 16 + place(sub), (byte) ((low | high << 4) - 32));
            }
            copy(in, 108, out, blocks * 112 + 2 * number, 2);
        }
    }

    /// Planes `qs: uint8[64]`, `{scale, minimum}: uint4[2][16]`, `{d, dmin}: f16[2]`.
    static final class Q2K extends WeightFormat {
        Q2K() {
            super(BLOCK, 84, 84);
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            float d = f16(tensor, blocks * 80 + 4 * number);
            float dmin = f16(tensor, blocks * 80 + 4 * number + 2);
            for (int sub = 0; sub < 16; sub++) {
                int c = unsigned(tensor, blocks * 64 + number * 16 + place(sub));
                for (int l = 0; l < 16; l++) {
                    int q = unsigned(tensor, number * 64 + 32 * (sub >> 3) + 16 * (sub & 1) + l) >> 2 * (sub >> 1 & 3);
                    out[at + 16 * sub + l] = d * (c & 15) * (q & 3) - dmin * (c >> 4);
                }
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            copy(in, 16, out, number * 64, 64);
            for (int sub = 0; sub < 16; sub++) {
                copy(in, sub, out, blocks * 64 + number * 16 + place(sub), 1);
            }
            copy(in, 80, out, blocks * 80 + 4 * number, 4);
        }
    }

    /// Q4_K and Q5_K: planes `qs: uint8[128]`, for Q5_K `fifths: uint32[4]` twice, `scales: uint8[16]`,
    /// `{d, dmin}: f16[2]`. For j in 0..3, n, s in 0..1 and l in 0..15, element `64j + 32n + 16s + l`
    /// belongs to sub-block `2j + n`; byte `64s + 16j + l` of qs has its lower four bits in bits
    /// 4n..4n+3, bit `8 (l % 4) + 4n + l / 4` of word j of fifths s the fifth. Scale and minimum of a
    /// sub-block stand at `4j + n` and `4j + 2 + n`.
    static final class Q45K extends WeightFormat {
        private final boolean five;

        Q45K(boolean five) {
            super(BLOCK, five ? 176 : 144, five ? 180 : 148);
            this.five = five;
        }

        @Override
        void decode(MemorySegment tensor, long blocks, long number, float[] out, int at) {
            long factors = blocks * (bytes - 4) + 4 * number;
            float d = f16(tensor, factors);
            float dmin = f16(tensor, factors + 2);
            for (int sub = 0; sub < 8; sub++) {
                int j = sub >> 1;
                int n = sub & 1;
                long scales = blocks * (bytes - 20) + 16 * number + 4 * j + n;
                float factor = d * unsigned(tensor, scales);
                float minimum = dmin * unsigned(tensor, scales + 2);
                for (int l = 0; l < 32; l++) {
                    long place = 64 * (l >> 4) + 16 * j + (l & 15);
                    int q = unsigned(tensor, number * 128 + place) >> 4 * n & 15;
                    if (five) {
                        long fifths = blocks * (128 + 16 * (l >> 4)) + 16 * number + 4 * j;
                        q |= (unsigned(tensor, fifths + (l & 3)) >> 4 * n + (l >> 2 & 3) & 1) << 4;
                    }
                    out[at + 32 * sub + l] = factor * q - minimum;
                }
            }
        }

        @Override
        void repack(MemorySegment in, MemorySegment out, long blocks, long number) {
            int qs = five ? 48 : 16;
            for (int j = 0; j < 4; j++) {
                for (int s = 0; s < 2; s++) {
                    copy(in, qs + 32 * j + 16 * s, out, number * 128 + 64 * s + 16 * j, 16);
                    if (five) {
                        fifths(in, out, blocks * (128 + 16 * s) + 16 * number + 4 * j, j, s);
                    }
                }
            }
            for (int sub = 0; sub < 8; sub++) {
                long scales = blocks * (bytes - 20) + 16 * number + 4 * (sub >> 1) + (sub & 1);
                out.set(BYTE, scales, (byte) scale(in, sub));
                out.set(BYTE, scales + 2, (byte) minimum(in, sub));
            }
            copy(in, 0, out, blocks * (bytes - 4) + 4 * number, 4);
        }

        /// One word of the fifth bits of unit j, half s.
        private static void fifths(MemorySegment in, MemorySegment out, long to, int j, int s) {
            for (int b = 0; b < 4; b++) {
                int bits = 0;
                for (int k = 0; k < 4; k++) {
                    int high = unsigned(in, 16 + 16 * s + 4 * k + b) >> 2 * j;
                    bits |= (high & 1) << k | (high >> 1 & 1) << 4 + k;
                }
                out.set(BYTE, to + b, (byte) bits);
            }
        }

        /// Scale of a sub-block in a file's block: 6 bits of the 12 bytes at 4.
        private static int scale(MemorySegment block, int sub) {
            return sub < 4
                    ? unsigned(block, 4 + sub) & 63
                    : unsigned(block, 8 + sub) & 15 | unsigned(block, sub) >> 6 << 4;
        }

        private static int minimum(MemorySegment block, int sub) {
            return sub < 4
                    ? unsigned(block, 8 + sub) & 63
                    : unsigned(block, 8 + sub) >> 4 | unsigned(block, 4 + sub) >> 6 << 4;
        }
    }
}
