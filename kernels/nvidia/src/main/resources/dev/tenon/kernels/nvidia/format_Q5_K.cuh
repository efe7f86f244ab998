// Q5_K: 256 five-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each.
//
//   GGUF     | d:f16 | dmin:f16 | packed: uint8[12] | qh: uint8[32] | qs: uint8[128] |            176 bytes a block
//   device   | qs: uint8[128] of every block ... | fifths 0: u32[4] ... | fifths 1: u32[4] ... | scales: uint8[16] ...
//            | d, dmin: f16[2] ... |                                                              180 bytes a block
//
//   value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..31, in GGUF:
//   q[64j + l]      = (qs[32j + l] & 15) | (qh[l] >> 2j     & 1) << 4
//   q[64j + l + 32] = (qs[32j + l] >> 4) | (qh[l] >> 2j + 1 & 1) << 4
//
// On the device qs, scales and factors lie as those of Q4_K. Word j of `fifths s` has the fifth bits of unit j's
// weights 64j + 32n + 16s + l, n in 0..1, l in 0..15: bit 8 (l % 4) + 4n + l / 4.
#pragma once
#include "format_Q4_K.cuh"

struct Q5_K {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 256;
    static constexpr int BYTES = 176;
    static constexpr int UNIT = 64;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = true;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 128;
    static constexpr int PIECES16 = 2;
    static constexpr int STEP16 = 64;
    static constexpr int PIECES4 = 4;

    struct Lane {
        uint4 q[2];
        u32 fifths[2];
        u32 scales;
        u32 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int) { return base + 16 * corner; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (128 + 16 * i); }

    static constexpr DEVICE int shift4(int i) { return i < 3 ? 0 : 2; }

    static DEVICE Lane lane(const uint4 (&p)[2], const u32 (&w)[4], u32) {
        return Lane{{p[0], p[1]}, {w[0], w[1]}, w[2], w[3]};
    }

    // four levels: nibbles n of `low`, and the fifth bits in bits 4n + k of `fifths`
    static DEVICE u32 word(u32 low, u32 fifths, int n, int k) {
        const u32 high = n == 0 ? fifths << (4 - k) : fifths >> k;
        return andOr(high, 0x10101010u, low >> 4 * n & 0x0f0f0f0fu);
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        const uint4 q = lane.q[i & 1];
        const u32 fifths = lane.fifths[i & 1];
        const int n = i >> 1;
        return make_uint4(word(q.x, fifths, n, 0), word(q.y, fifths, n, 1), word(q.z, fifths, n, 2),
                word(q.w, fifths, n, 3));
    }

    static DEVICE int scale(const Lane& lane, int, int i) { return lane.scales >> 8 * i & 255; }

    static DEVICE int minimum(const Lane& lane, int, int i) { return lane.scales >> (16 + 8 * i) & 255; }

    static DEVICE float factor(const Lane& lane) { return lowHalf(lane.d); }

    static DEVICE float minimumFactor(const Lane& lane) { return highHalf(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int sub = first >> 5;
        const int n = sub & 1;
        const u8* qs = base + block * 128 + FourBits::place(first);
        const u32 fifths = ((const u32*) (base + blocks * (128 + (first & 16))))[block * 4 + (first >> 6)];
        const u8* scales = base + blocks * 160;
        const u32 d = ((const u32*) (base + blocks * 176))[block];
        const float factor = lowHalf(d) * FourBits::scale(scales, block, sub);
        const float minimum = highHalf(d) * FourBits::minimum(scales, block, sub);
        for (int i = 0; i < 8; i++) {
            const int l = (first & 15) + i;
            const int fifth = fifths >> (8 * (l & 3) + 4 * n + (l >> 2)) & 1;
            out[i] = factor * ((qs[i] >> 4 * n & 15) | fifth << 4) - minimum;
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        FourBits::repack(in, in + 48, base + block * 128, base + blocks * 160 + block * 16,
                base + blocks * 176 + block * 4);
        for (int s = 0; s < 2; s++) {
            u32* fifths = (u32*) (base + blocks * (128 + 16 * s)) + block * 4;
            for (int j = 0; j < 4; j++) {
                u32 word = 0;
                for (int l = 0; l < 16; l++) {
                    const u32 qh = in[16 + 16 * s + l] >> 2 * j;
                    word |= (qh & 1) << (8 * (l & 3) + (l >> 2)) | (qh >> 1 & 1) << (8 * (l & 3) + 4 + (l >> 2));
                }
                fifths[j] = word;
            }
        }
    }
};
