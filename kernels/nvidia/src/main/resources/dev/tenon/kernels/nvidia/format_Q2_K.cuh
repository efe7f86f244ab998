// Q2_K: 256 two-bit levels, sixteen sub-blocks of 16 with a 4-bit scale and a 4-bit minimum each.
//
//   GGUF     | scales: uint8[16] | qs: uint8[64] | d:f16 | dmin:f16 |           84 bytes a block, so 4-byte aligned
//   device   | qs: uint8[64] of every block ... | scales: uint8[16] of every block ... | d, dmin: f16[2] ... |
//
//   value[i] = d * (c & 15) * q[i] - dmin * (c >> 4), c = scales[i / 16];
//   for h, s in 0..1, p in 0..3 and l in 0..15:   q[128h + 32p + 16s + l] = qs[32h + 16s + l] >> 2p & 3
//
//   device scales   sub-block 8h + 2p + s stands at 8h + 4s + p, as in Q6_K
#pragma once

struct Q2_K {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 256;
    static constexpr int BYTES = 84;
    static constexpr int UNIT = 64;
    static constexpr int CHUNK = 16;
    static constexpr bool INTERLEAVED = true;
    static constexpr bool MINIMUMS = true;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 64;
    static constexpr int PIECES16 = 1;
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 q;
        u32 scales;
        u32 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int) { return base + 16 * corner; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 64 : 80); }

    static constexpr DEVICE int shift4(int i) { return i == 0 ? 0 : 2; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[2], u32) { return Lane{p[0], w[0], w[1]}; }

    static DEVICE uint4 levels(const Lane& lane, int, int p) {
        const u32 mask = 0x03030303u;
        return make_uint4(lane.q.x >> 2 * p & mask, lane.q.y >> 2 * p & mask, lane.q.z >> 2 * p & mask,
                lane.q.w >> 2 * p & mask);
    }

    static DEVICE int scale(const Lane& lane, int, int p) { return lane.scales >> 8 * p & 15; }

    static DEVICE int minimum(const Lane& lane, int, int p) { return lane.scales >> (8 * p + 4) & 15; }

    static DEVICE float factor(const Lane& lane) { return lowHalf(lane.d); }

    static DEVICE float minimumFactor(const Lane& lane) { return highHalf(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int h = first >> 7;
        const int p = first >> 5 & 3;
        const int s = first >> 4 & 1;
        const u8* qs = base + block * 64 + 32 * h + (first & 31);
        const u32 d = ((const u32*) (base + blocks * 80))[block];
        const int c = (base + blocks * 64)[block * 16 + 8 * h + 4 * s + p];
        const float factor = lowHalf(d) * (c & 15);
        const float minimum = highHalf(d) * (c >> 4);
        for (int i = 0; i < 8; i++) {
            out[i] = factor * (qs[i] >> 2 * p & 3) - minimum;
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 64; i++) {
            base[block * 64 + i] = in[16 + i];
        }
        for (int j = 0; j < 16; j++) {
            base[blocks * 64 + block * 16 + (j & 8) + 4 * (j & 1) + (j >> 1 & 3)] = in[j];
        }
        ((u32*) (base + blocks * 80))[block] = in[80] | in[81] << 8 | in[82] << 16 | (u32) in[83] << 24;
    }
};
