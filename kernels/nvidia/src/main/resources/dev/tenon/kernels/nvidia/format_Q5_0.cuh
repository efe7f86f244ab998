// Q5_0: 32 five-bit levels under one scale.
//
//   GGUF     | d:f16 | qh: uint32 | qs: uint8[16] |                          22 bytes a block
//   device   | qs: uint8[16] of every block ... | fifths: u32 ... | d: f16 ... |
//
//   value[16n + l] = d * ((qs[l] >> 4n & 15 | (qh >> 16n + l & 1) << 4) - 16), n in 0..1, l in 0..15
//
// A level is kept in the upper five bits of its byte with the sign bit turned, which is 8 * (level - 16).
#pragma once
#include "common.cuh"

// The fifth bits of Q5_0 and Q5_1 on the device: that of weight 16n + l is bit 8 (l % 4) + 4n + l / 4.
struct Fifths {
    static DEVICE int place(int i) { return 8 * (i & 3) + 4 * (i >> 4) + (i >> 2 & 3); }

    static DEVICE u32 repack(const u8* qh) {
        const u32 bits = qh[0] | qh[1] << 8 | qh[2] << 16 | (u32) qh[3] << 24;
        u32 word = 0;
        for (int i = 0; i < 32; i++) {
            word |= (bits >> i & 1) << place(i);
        }
        return word;
    }

    // weight `i` of 32 as a level 0..31
    static DEVICE int level(const u8* qs, u32 fifths, int i) {
        return (qs[i & 15] >> 4 * (i >> 4) & 15) | (fifths >> place(i) & 1) << 4;
    }
};

struct Q5_0 {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 22;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 16;
    static constexpr int PIECES16 = 1;
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 q;
        u32 fifths;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 16 : 20); }

    static constexpr DEVICE int shift4(int i) { return i; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[2], u32 unit) {
        return Lane{p[0], w[0], (u16) (unit & 1 ? w[1] >> 16 : w[1])};
    }

    // four levels: nibbles n of `low`, and the fifth bits in bits 4n + k of `fifths`
    static DEVICE u32 word(u32 low, u32 fifths, int n, int k) {
        const u32 nibbles = n == 0 ? low << 3 : low >> 1;
        return andOr(fifths << (7 - 4 * n - k), 0x80808080u, nibbles & 0x78787878u) ^ 0x80808080u;
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        return make_uint4(word(lane.q.x, lane.fifths, i, 0), word(lane.q.y, lane.fifths, i, 1),
                word(lane.q.z, lane.fifths, i, 2), word(lane.q.w, lane.fifths, i, 3));
    }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d) * (1.f / 8); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const u32 fifths = ((const u32*) (base + blocks * 16))[block];
        const float d = halfToFloat(((const u16*) (base + blocks * 20))[block]);
        for (int i = 0; i < 8; i++) {
            out[i] = d * (Fifths::level(base + block * 16, fifths, first + i) - 16);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 16; i++) {
            base[block * 16 + i] = in[6 + i];
        }
        ((u32*) (base + blocks * 16))[block] = Fifths::repack(in + 2);
        ((u16*) (base + blocks * 20))[block] = in[0] | in[1] << 8;
    }
};
