// Units of formats with a nibble for each weight: out of a table (four_bit_table.cuh), or with a minimum or a fifth bit.
#pragma once
#include "formats.cuh"
#include "unit.cuh"

// The 16 bytes of each block of 32 in a chunk.
DEVICE void loadPieces4(uint4 (&q)[4], const u8* row, int chunk, int cols) {
#pragma unroll
    for (int g = 0; g < 4; g++) {
        int col = chunk * 128 + g * 32;
        q[g] = col < cols ? loadBytes16(row + col / 2) : make_uint4(0, 0, 0, 0);
    }
}

// A word of each block of 32 in a chunk.
DEVICE void loadWords4(u32 (&w)[4], const u8* row, int chunk, int cols) {
    const u32* from = (const u32*)row + 4 * chunk;
#pragma unroll
    for (int g = 0; g < 4; g++) w[g] = chunk * 128 + g * 32 < cols ? __ldg(from + g) : 0u;
}

// Planes indices:u32[4], e:uint8 (format_MXFP4.cuh)
struct UnitMXFP4 {
    using Row = PlanesRow<32, 16, 1, 0>;
    uint4 q[4];
    u32 e;

    DEVICE void load(const Row& row, int chunk, int, int cols) {
        const u8* from = row.scales + 4 * chunk;
        bool whole = cols % 128 == 0;
        loadPieces4(q, row.q, chunk, cols);
        e = whole ? __ldg((const u32*)from) : 0;
#pragma unroll
        for (int g = 0; g < 4; g++)
            if (!whole && chunk * 128 + g * 32 < cols) e |= (u32)__ldg(from + g) << 8 * g;
    }

    DEVICE void decode(int, int u, int part, uint2 (&out)[2][4]) const {
        // The table with flipped signs: bytes one above 128.
        const Table16 table = {{0x83828180u, 0x8c888684u, 0x7d7e7f80u, 0x74787a7cu}};
#pragma unroll
        for (int g = 0; g < 2; g++) {
            float power = MXFP4::power(e >> 8 * (2 * part + g) & 255);
            u32 scale = twice((u32)floatToHalf(fminf(power, 65504.0f)));
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[g][i] = scaled(table(word(q[2 * part + g], i) >> 16 * u), 0x64806480u, scale);
        }
    }
};

// IQ4_XS's levels with flipped signs: bytes one above 128.
DEVICE Table16 unevenBytes() { return Table16{{0x3f2d1801u, 0x766a5d4fu, 0xa6998d81u, 0xf1d9c5b5u}}; }

// Planes indices:u32[32], scales:int8[8], d:f16
struct UnitIQ4_XS {
    using Row = PlanesRow<256, 128, 8, 2>;
    uint4 q[4];
    u32 scales;
    u16 d;

    DEVICE void load(const Row& row, int chunk, int, int) {
        int block = chunk >> 1;
#pragma unroll
        for (int g = 0; g < 4; g++)
            q[g] = loadBytes16(row.q + block * 128 + IQ4_XS::place(4 * (chunk & 1) + g));
        scales = __ldg((const u32*)(row.scales + 4 * chunk));
        d = __ldg((const u16*)row.d + block);
    }

    DEVICE void decode(int, int u, int part, uint2 (&out)[2][4]) const {
        u32 both = scalesOf(scales ^ 0x80808080u, part, 0x64806480u, twice((u32)d));
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = g ? twiceHigh(both) : twiceLow(both);
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[g][i] = scaled(unevenBytes()(word(q[2 * part + g], i) >> 16 * u), 0x64806480u, scale);
        }
    }
};

// Planes qs:uint8[16], fifths:u32, d:f16
struct UnitQ5_0 {
    using Row = PlanesRow<32, 16, 4, 2>;
    uint4 q[4];
    u32 fifths[4];
    u16 d[4];

    DEVICE void load(const Row& row, int chunk, int, int cols) {
        loadPieces4(q, row.q, chunk, cols);
        loadScales4(d, row.d, chunk, cols);
        loadWords4(fifths, row.scales, chunk, cols);
    }

    DEVICE void decode(int, int u, int part, uint2 (&out)[2][4]) const {
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = twice((u32)d[2 * part + g]);
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[g][i] = scaled(fiveBits(q[2 * part + g], fifths[2 * part + g], u, i), 0x64106410u, scale);
        }
    }

    // levels 0..31 of the weights 16u + 4i ..
    static DEVICE u32 fiveBits(const uint4& q, u32 fifths, int u, int i) {
        return (word(q, i) >> 4 * u & 0x0f0f0f0fu) | bitsOf(fifths >> 4 * u, 4 - i, 0x10101010u);
    }
};

// Planes qs:uint8[16], fifths:u32, {d, m}:f16[2]
struct UnitQ5_1 {
    using Row = PlanesRow<32, 16, 4, 4>;
    uint4 q[4];
    u32 fifths[4];
    u32 d[4];

    DEVICE void load(const Row& row, int chunk, int, int cols) {
        loadPieces4(q, row.q, chunk, cols);
        loadWords4(d, row.d, chunk, cols);
        loadWords4(fifths, row.scales, chunk, cols);
    }

    DEVICE void decode(int, int u, int part, uint2 (&out)[2][4]) const {
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 both = d[2 * part + g];
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[g][i] = shifted(UnitQ5_0::fiveBits(q[2 * part + g], fifths[2 * part + g], u, i),
                                    twiceLow(both), twiceHigh(both));
        }
    }
};
