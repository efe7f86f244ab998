// Q5_K: 256 five-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each. 176 bytes a block, as
// in GGUF: they are 16-byte aligned.
//
//   byte 0       2          4                   16              48                           176
//        | d:f16 | dmin:f16 | scales: uint8[12] | qh: uint8[32] | qs: uint8[128]             |
//
//   value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..31:
//   q[64j + l]      = (qs[32j + l] & 15) | (qh[l] >> 2j     & 1) << 4
//   q[64j + l + 32] = (qs[32j + l] >> 4) | (qh[l] >> 2j + 1 & 1) << 4
//
//   unit j   32 bytes of qs, all of qh and the 16 bytes in front: sub-blocks 2j and 2j + 1
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
    static constexpr bool REPACKED = false;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 176;
    static constexpr int PIECES16 = 5;
    static constexpr int PIECES4 = 0;

    struct Lane {
        uint4 head;
        uint4 high[2];
        uint4 low[2];
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int i) {
        return base + 16 * i + (i < 3 ? 0 : 32 * corner);
    }

    static DEVICE const u8* piece4(const u8* base, i64, int) { return base; }

    static constexpr DEVICE int shift4(int) { return 0; }

    static DEVICE Lane lane(const uint4 (&p)[5], const u32 (&)[1], u32) {
        return Lane{p[0], {p[1], p[2]}, {p[3], p[4]}};
    }

    static DEVICE u32 word(u32 low, u32 high, int nibble, int bit) {
        return (low >> nibble & 0x0f0f0f0fu) | (high >> bit & 0x01010101u) << 4;
    }

    static DEVICE uint4 levels(const Lane& lane, int unit, int i) {
        const uint4 l = lane.low[i & 1];
        const uint4 h = lane.high[i & 1];
        const int nibble = 4 * (i >> 1);
        const int bit = 2 * (unit & 3) + (i >> 1);
        return make_uint4(word(l.x, h.x, nibble, bit), word(l.y, h.y, nibble, bit), word(l.z, h.z, nibble, bit),
                word(l.w, h.w, nibble, bit));
    }

    static DEVICE int scale(const Lane& lane, int unit, int i) { return PackedScales::scale(lane.head, unit & 3, i); }

    static DEVICE int minimum(const Lane& lane, int unit, int i) {
        return PackedScales::minimum(lane.head, unit & 3, i);
    }

    static DEVICE float factor(const Lane& lane) { return lowHalf(lane.head.x); }

    static DEVICE float minimumFactor(const Lane& lane) { return highHalf(lane.head.x); }

    static DEVICE void decode8(const u8* base, i64, i64 block, int first, float* out) {
        const u8* at = base + block * BYTES;
        const int j = first >> 6;
        const int i = first >> 5 & 1;
        const u8* qh = at + 16 + (first & 31);
        const u8* qs = at + 48 + 32 * j + (first & 31);
        const uint4 head = *(const uint4*) at;
        const float factor = lowHalf(head.x) * PackedScales::scale(head, j, i);
        const float minimum = highHalf(head.x) * PackedScales::minimum(head, j, i);
        for (int l = 0; l < 8; l++) {
            out[l] = factor * (qs[l] >> 4 * i & 15 | (qh[l] >> (2 * j + i) & 1) << 4) - minimum;
        }
    }
};
