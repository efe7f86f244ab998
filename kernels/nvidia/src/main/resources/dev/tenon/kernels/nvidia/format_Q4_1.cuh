// Q4_1: 32 four-bit levels under a scale and a minimum.
//
//   GGUF     | d:f16 | m:f16 | qs: uint8[16] |  20 bytes a block       value[i]      = d * (qs[i] & 15) + m, i in 0..15
//   device   | qs: uint8[16] of every block ... | d, m: f16[2] ... |   value[i + 16] = d * (qs[i] >> 4) + m
#pragma once

struct Q4_1 {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 20;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = true;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 16;
    static constexpr int PIECES16 = 1;
    static constexpr int PIECES4 = 1;

    struct Lane {
        uint4 q;
        u32 d;
    };

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int) { return base + blocks * 16; }

    static constexpr DEVICE int shift4(int) { return 0; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[1], u32) { return Lane{p[0], w[0]}; }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        const u32 mask = 0x0f0f0f0fu;
        return make_uint4(lane.q.x >> 4 * i & mask, lane.q.y >> 4 * i & mask, lane.q.z >> 4 * i & mask,
                lane.q.w >> 4 * i & mask);
    }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE int minimum(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return lowHalf(lane.d); }

    static DEVICE float minimumFactor(const Lane& lane) { return -highHalf(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const u8* q = base + block * 16 + (first & 15);
        const u32 d = ((const u32*) (base + blocks * 16))[block];
        for (int i = 0; i < 8; i++) {
            out[i] = lowHalf(d) * (first < 16 ? q[i] & 15 : q[i] >> 4) + highHalf(d);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 16; i++) {
            base[block * 16 + i] = in[4 + i];
        }
        ((u32*) (base + blocks * 16))[block] = in[0] | in[1] << 8 | in[2] << 16 | (u32) in[3] << 24;
    }
};
