// Q5_1: 32 five-bit levels under a scale and a minimum.
//
//   GGUF     | d:f16 | m:f16 | qh: uint32 | qs: uint8[16] |                        24 bytes a block
//   device   | qs: uint8[16] of every block ... | fifths: u32 ... | d, m: f16[2] ... |
//
//   value[16n + l] = d * (qs[l] >> 4n & 15 | (qh >> 16n + l & 1) << 4) + m, n in 0..1, l in 0..15
//
// The fifth bits lie as those of Q5_0.
#pragma once
#include "format_Q5_0.cuh"

struct Q5_1 {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 24;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = true;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 16;
    static constexpr int PIECES16 = 1;
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 q;
        u32 fifths;
        u32 d;
    };

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 16 : 20); }

    static constexpr DEVICE int shift4(int) { return 0; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[2], u32) { return Lane{p[0], w[0], w[1]}; }

    // four levels: nibbles n of `low`, and the fifth bits in bits 4n + k of `fifths`
    static DEVICE u32 word(u32 low, u32 fifths, int n, int k) {
        const u32 high = n == 0 ? fifths << (4 - k) : fifths >> k;
        return andOr(high, 0x10101010u, low >> 4 * n & 0x0f0f0f0fu);
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        return make_uint4(word(lane.q.x, lane.fifths, i, 0), word(lane.q.y, lane.fifths, i, 1),
                word(lane.q.z, lane.fifths, i, 2), word(lane.q.w, lane.fifths, i, 3));
    }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE int minimum(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return lowHalf(lane.d); }

    static DEVICE float minimumFactor(const Lane& lane) { return -highHalf(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const u32 fifths = ((const u32*) (base + blocks * 16))[block];
        const u32 d = ((const u32*) (base + blocks * 20))[block];
        for (int i = 0; i < 8; i++) {
            out[i] = lowHalf(d) * Fifths::level(base + block * 16, fifths, first + i) + highHalf(d);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 16; i++) {
            base[block * 16 + i] = in[8 + i];
        }
        ((u32*) (base + blocks * 16))[block] = Fifths::repack(in + 4);
        ((u32*) (base + blocks * 20))[block] = in[0] | in[1] << 8 | in[2] << 16 | (u32) in[3] << 24;
    }
};
