// Q4_K: 256 four-bit levels, eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each.
//
//   GGUF     | d:f16 | dmin:f16 | packed: uint8[12] | qs: uint8[128] |       144 bytes a block
//   device   | qs: uint8[128] of every block ... | scales: uint8[16] ... | d, dmin: f16[2] ... |     148 bytes a block
//
//   value[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32];  for j in 0..3 and l in 0..31, in GGUF:
//   q[64j + l] = qs[32j + l] & 15        q[64j + l + 32] = qs[32j + l] >> 4
//
//   unit j          sub-blocks 2j and 2j + 1
//   device qs       two planes of 64 bytes, so that lanes side by side read whole sectors: byte l of unit j stands at
//                   64 (l / 16) + 16j + l % 16
//   device scales   | scale[2j], scale[2j + 1], min[2j], min[2j + 1] | for each unit j, a byte each
//
// The levels of sub-block 2j + 1 are left where they are, in the upper four bits: 16 times too large.
#pragma once

// The 12 bytes in which GGUF keeps the eight 6-bit scales and eight 6-bit minimums of Q4_K and Q5_K.
//
//   byte j     (j in 0..3)     scale[j] in bits 0-5,     bits 4-5 of scale[j+4] in bits 6-7
//   byte j+4                   min[j]   in bits 0-5,     bits 4-5 of min[j+4]   in bits 6-7
//   byte j+8                   bits 0-3 of scale[j+4] in bits 0-3, bits 0-3 of min[j+4] in bits 4-7
struct PackedScales {
    static DEVICE int scale(const u8* packed, int j) {
        return j < 4 ? packed[j] & 63 : (packed[j + 4] & 15) | packed[j - 4] >> 6 << 4;
    }

    static DEVICE int minimum(const u8* packed, int j) {
        return j < 4 ? packed[j + 4] & 63 : packed[j + 4] >> 4 | packed[j] >> 6 << 4;
    }
};

// What Q4_K and Q5_K have in common on the device: qs, scales and factors in planes.
struct FourBits {
    static DEVICE int scale(const u8* scales, i64 block, int sub) {
        return scales[block * 16 + 4 * (sub >> 1) + (sub & 1)];
    }

    static DEVICE int minimum(const u8* scales, i64 block, int sub) {
        return scales[block * 16 + 4 * (sub >> 1) + 2 + (sub & 1)];
    }

    // byte of weight `first` of a block in the planes of qs; those up to the next multiple of 16 follow
    static DEVICE int place(int first) { return 64 * (first >> 4 & 1) + 16 * (first >> 6) + (first & 15); }

    // head: the 16 bytes in front of a block in GGUF
    static DEVICE void repack(const u8* head, const u8* qs, u8* toQs, u8* toScales, u8* toFactors) {
        for (int i = 0; i < 128; i++) {
            toQs[64 * (i >> 4 & 1) + 16 * (i >> 5) + (i & 15)] = qs[i];
        }
        for (int j = 0; j < 8; j++) {
            toScales[4 * (j >> 1) + (j & 1)] = PackedScales::scale(head + 4, j);
            toScales[4 * (j >> 1) + 2 + (j & 1)] = PackedScales::minimum(head + 4, j);
        }
        *(u32*) toFactors = head[0] | head[1] << 8 | head[2] << 16 | (u32) head[3] << 24;
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
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 128;
    static constexpr int PIECES16 = 2;
    static constexpr int STEP16 = 64;
    static constexpr int PIECES4 = 2;
    static constexpr int ODD_SHIFT = 4;

    struct Lane {
        uint4 q[2];
        u32 scales;
        u32 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int) { return base + 16 * corner; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 128 : 144); }

    static constexpr DEVICE int shift4(int i) { return i == 0 ? 0 : 2; }

    static DEVICE Lane lane(const uint4 (&p)[2], const u32 (&w)[2], u32) { return Lane{{p[0], p[1]}, w[0], w[1]}; }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        const uint4 q = lane.q[i & 1];
        const u32 mask = i < 2 ? 0x0f0f0f0fu : 0xf0f0f0f0u;
        return make_uint4(q.x & mask, q.y & mask, q.z & mask, q.w & mask);
    }

    static DEVICE int scale(const Lane& lane, int, int i) { return lane.scales >> 8 * i & 255; }

    static DEVICE int minimum(const Lane& lane, int, int i) { return lane.scales >> (16 + 8 * i) & 255; }

    static DEVICE float factor(const Lane& lane) { return lowHalf(lane.d); }

    static DEVICE float minimumFactor(const Lane& lane) { return highHalf(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int sub = first >> 5;
        const u8* qs = base + block * 128 + FourBits::place(first);
        const u8* scales = base + blocks * 128;
        const u32 d = ((const u32*) (base + blocks * 144))[block];
        const float factor = lowHalf(d) * FourBits::scale(scales, block, sub);
        const float minimum = highHalf(d) * FourBits::minimum(scales, block, sub);
        for (int l = 0; l < 8; l++) {
            out[l] = factor * (qs[l] >> 4 * (sub & 1) & 15) - minimum;
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        FourBits::repack(in, in + 16, base + block * 128, base + blocks * 128 + block * 16,
                base + blocks * 144 + block * 4);
    }
};
