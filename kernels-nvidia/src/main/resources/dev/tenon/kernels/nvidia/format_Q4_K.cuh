// Q4_K: 256 four-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each. 144 bytes a block, as
// in GGUF: they are 16-byte aligned.
//
//   byte 0       2          4                   16                           144
//        | d:f16 | dmin:f16 | scales: uint8[12] | qs: uint8[128]             |
//
//   value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..31:
//   q[64j + l] = qs[32j + l] & 15        q[64j + l + 32] = qs[32j + l] >> 4
//
//   unit j   32 bytes of qs and the 16 bytes in front: sub-blocks 2j and 2j + 1
#pragma once

// The 12 bytes in which Q4_K and Q5_K keep eight 6-bit scales and eight 6-bit minimums.
//
//   byte j     (j in 0..3)     scale[j] in bits 0-5,     bits 4-5 of scale[j+4] in bits 6-7
//   byte j+4                   min[j]   in bits 0-5,     bits 4-5 of min[j+4]   in bits 6-7
//   byte j+8                   bits 0-3 of scale[j+4] in bits 0-3, bits 0-3 of min[j+4] in bits 4-7
struct PackedScales {
    // scale of sub-block 2j + i; head = the 16 bytes in front of a block
    static DEVICE int scale(const uint4& head, int j, int i) {
        const int shift = 16 * (j & 1);
        const u32 both = j < 2 ? head.y >> shift & 0x3f3fu
                               : (head.w >> shift & 0x0f0fu) | (head.y >> (shift + 2) & 0x3030u);
        return both >> 8 * i & 0xff;
    }

    static DEVICE int minimum(const uint4& head, int j, int i) {
        const int shift = 16 * (j & 1);
        const u32 both = j < 2 ? head.z >> shift & 0x3f3fu
                               : (head.w >> (shift + 4) & 0x0f0fu) | (head.z >> (shift + 2) & 0x3030u);
        return both >> 8 * i & 0xff;
    }
};

struct Q4_K {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 256;
    static constexpr int BYTES = 144;
    static constexpr int UNIT = 64;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = true;
    static constexpr bool REPACKED = false;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 144;
    static constexpr int PIECES16 = 3;
    static constexpr int PIECES4 = 0;

    struct Lane {
        uint4 head;
        uint4 q[2];
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int i) {
        return base + (i == 0 ? 0 : 32 * corner + 16 * i);
    }

    static DEVICE const u8* piece4(const u8* base, i64, int) { return base; }

    static constexpr DEVICE int shift4(int) { return 0; }

    static DEVICE Lane lane(const uint4 (&p)[3], const u32 (&)[1], u32) { return Lane{p[0], {p[1], p[2]}}; }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        const uint4 q = lane.q[i & 1];
        const int shift = 4 * (i >> 1);
        const u32 mask = 0x0f0f0f0fu;
        return make_uint4(q.x >> shift & mask, q.y >> shift & mask, q.z >> shift & mask, q.w >> shift & mask);
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
        const u8* qs = at + 16 + 32 * j + (first & 31);
        const uint4 head = *(const uint4*) at;
        const float factor = lowHalf(head.x) * PackedScales::scale(head, j, i);
        const float minimum = highHalf(head.x) * PackedScales::minimum(head, j, i);
        for (int l = 0; l < 8; l++) {
            out[l] = factor * (qs[l] >> 4 * i & 15) - minimum;
        }
    }
};
