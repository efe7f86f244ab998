// IQ4_XS: 256 levels out of a table of sixteen uneven ones, eight sub-blocks of 32 with a 6-bit scale each.
//
//   GGUF     | d:f16 | high: uint16 | low: uint8[4] | qs: uint8[128] |                      136 bytes a block
//   device   | indices: u32[32] of every block ... | scales: int8[8] ... | d: f16 ... |     138 bytes a block
//
//   value[i] = d * scale[i / 32] * T[index i]
//   T = -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
//   scale[s] = (low[s / 2] >> 4 (s % 2) & 15 | (high >> 2s & 3) << 4) - 32
//
//   unit j            sub-blocks 2j and 2j + 1
//   device indices    two planes of 64 bytes, so that lanes side by side read whole sectors: the four words of
//                     sub-block 2j + s stand at 64s + 16j; four_bit_table.cuh has a word
#pragma once
#include "four_bit_table.cuh"

DEVICE Table16 unevenLevels() { return Table16{{0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}}; }

struct IQ4_XS {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 256;
    static constexpr int BYTES = 136;
    static constexpr int UNIT = 64;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 128;
    static constexpr int PIECES16 = 2;
    static constexpr int STEP16 = 64;
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 q[2];
        u32 scales;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int) { return base + 16 * corner; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 128 : 136); }

    static constexpr DEVICE int shift4(int i) { return i == 0 ? 1 : 3; }

    static DEVICE Lane lane(const uint4 (&p)[2], const u32 (&w)[2], u32 unit) {
        return Lane{{p[0], p[1]}, w[0] >> 16 * (unit & 1), (u16) (unit & 4 ? w[1] >> 16 : w[1])};
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        return FourBitTable::levels(unevenLevels(), lane.q[i >> 1], i & 1);
    }

    static DEVICE int scale(const Lane& lane, int, int i) { return signedByte(lane.scales, i); }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d); }

    // the four words of a sub-block
    static DEVICE int place(int sub) { return 64 * (sub & 1) + 16 * (sub >> 1); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int sub = first >> 5;
        const i8 scale = (i8) (base + blocks * 128)[block * 8 + sub];
        const float factor = halfToFloat(((const u16*) (base + blocks * 136))[block]) * scale;
        for (int i = 0; i < 8; i++) {
            out[i] = factor * FourBitTable::level(unevenLevels(), base + block * 128 + place(sub), (first & 31) + i);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        const u32 high = in[2] | in[3] << 8;
        for (int s = 0; s < 8; s++) {
            FourBitTable::repack(in + 8 + 16 * s, base + block * 128 + place(s));
            const int scale = (in[4 + s / 2] >> 4 * (s % 2) & 15 | (high >> 2 * s & 3) << 4) - 32;
            (base + blocks * 128)[block * 8 + s] = (u8) scale;
        }
        ((u16*) (base + blocks * 136))[block] = in[0] | in[1] << 8;
    }
};
