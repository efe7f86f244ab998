// MXFP4: 32 floats of four bits (E2M1) under a power of two.
//
//   GGUF     | e: uint8 | qs: uint8[16] |  17 bytes a block              value[i] = 2^(e - 128) * T[index i]
//   device   | indices: u32[4] of every block ... | e: uint8 ... |       T = 0 1 2 3 4 6 8 12 and their negatives
//
// four_bit_table.cuh has the indices.
#pragma once
#include "four_bit_table.cuh"

struct MXFP4 {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 17;
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
        u32 e;
    };

    static DEVICE Table16 table() { return Table16{{0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu}}; }

    // 2^(e - 128); the two smallest are denormal
    static DEVICE float power(u32 e) { return __uint_as_float(e < 2 ? 0x200000u << e : (e - 1) << 23); }

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int) { return base + blocks * 16; }

    static constexpr DEVICE int shift4(int) { return 2; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[1], u32 unit) {
        return Lane{p[0], w[0] >> 8 * (unit & 3) & 255};
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) { return FourBitTable::levels(table(), lane.q, i); }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return power(lane.e); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const float d = power((base + blocks * 16)[block]);
        for (int i = 0; i < 8; i++) {
            out[i] = d * FourBitTable::level(table(), base + block * 16, first + i);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        FourBitTable::repack(in + 1, base + block * 16);
        (base + blocks * 16)[block] = in[0];
    }
};
