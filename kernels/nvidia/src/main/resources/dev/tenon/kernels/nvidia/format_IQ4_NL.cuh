// IQ4_NL: 32 levels out of a table of sixteen uneven ones, under one scale.
//
//   GGUF     | d:f16 | qs: uint8[16] |  18 bytes a block                        value[i] = d * T[index i]
//   device   | indices: u32[4] of every block ... | d: f16 ... |
//
//   T = -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113; four_bit_table.cuh has the indices.
#pragma once
#include "four_bit_table.cuh"

// What IQ4_NL and IQ4_XS have in common.
DEVICE Table16 unevenLevels() { return Table16{{0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}}; }

struct IQ4_NL {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 18;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 16;
    static constexpr int PIECES16 = 1;
    static constexpr int PIECES4 = 1;

    struct Lane {
        uint4 q;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int) { return base + blocks * 16; }

    static constexpr DEVICE int shift4(int) { return 1; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[1], u32 unit) {
        return Lane{p[0], (u16) (unit & 1 ? w[0] >> 16 : w[0])};
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        return FourBitTable::levels(unevenLevels(), lane.q, i);
    }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const float d = halfToFloat(((const u16*) (base + blocks * 16))[block]);
        for (int i = 0; i < 8; i++) {
            out[i] = d * FourBitTable::level(unevenLevels(), base + block * 16, first + i);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        FourBitTable::repack(in + 2, base + block * 16);
        ((u16*) (base + blocks * 16))[block] = in[0] | in[1] << 8;
    }
};
