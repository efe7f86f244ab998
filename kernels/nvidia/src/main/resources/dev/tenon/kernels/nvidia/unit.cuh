// Weights for the tensor cores: each format's decoder of a UNIT of 64 weights.
//
//   A row of weights is cut into chunks of 128. Unit u (0, 1) of a chunk is, for g = 0..3, the 16 weights
//   [32g + 16u, 32g + 16u + 16):
//
//     chunk   | 0          16        | 32         48        | 64         80        | 96         112    127 |
//     unit      0          1           0          1           0          1           0          1
//     group g            0                     1                     2                      3
//
//   With this shape one unit of a K format is 16 neighbouring bytes of each of its planes: a byte's low and high bits
//   belong to weights 32 or 64 apart. Two threads read a chunk, each its unit.
//
// A format is a struct with
//   Row                          where a row lies; Row(w, rows, cols, row) of a whole tensor in device layout
//   load(row, chunk, u, cols)    global memory -> registers; only this touches memory, so it may run far ahead
//   decode(chunk, u, part, out)  registers -> the 16 halves each of groups 2 * part and 2 * part + 1
// A chunk may reach beyond the end of a row of formats with blocks of fewer than 128 weights: such groups are zeros.
//
// Whole numbers become halves without conversion: the half with bits 0x6400 | n is 1024 + n for n < 1024.
#pragma once
#include "tensor_core.cuh"

// Four bytes 0..255 as halves 1024 + byte.
DEVICE void biased(u32 bytes, u32& h01, u32& h23) {
    h01 = __byte_perm(bytes, 0x64646464u, 0x4140);
    h23 = __byte_perm(bytes, 0x64646464u, 0x4342);
}

// Four bytes q as halves scale * (q - zero); `offset` is 1024 + zero, twice.
DEVICE uint2 scaled(u32 q, u32 offset, u32 scale) {
    uint2 h;
    biased(q, h.x, h.y);
    return make_uint2(mulHalves(subHalves(h.x, offset), scale), mulHalves(subHalves(h.y, offset), scale));
}

// Four bytes q as halves scale * q + shift.
DEVICE uint2 shifted(u32 q, u32 scale, u32 shift) {
    const u32 offset = 0x64006400u;
    uint2 h;
    biased(q, h.x, h.y);
    return make_uint2(fmaHalves(subHalves(h.x, offset), scale, shift), fmaHalves(subHalves(h.y, offset), scale, shift));
}

// Bits `mask` of every byte, moved up by `by` bits (down if negative); both known when compiling.
DEVICE u32 bitsOf(u32 bytes, int by, u32 mask) { return (by >= 0 ? bytes << by : bytes >> -by) & mask; }

DEVICE u32 word(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

DEVICE u32 twice(u32 h) { return h | h << 16; }
DEVICE u32 twiceLow(u32 h) { return __byte_perm(h, h, 0x1010); }
DEVICE u32 twiceHigh(u32 h) { return __byte_perm(h, h, 0x3232); }

// The scales of groups 2 * part and 2 * part + 1: bytes of a word less `offset` (1024 + zero, twice), times the block's
// scale `d`, which stands twice.
DEVICE u32 scalesOf(u32 bytes, int part, u32 offset, u32 d) {
    return mulHalves(subHalves(__byte_perm(bytes, 0x64646464u, part ? 0x4342 : 0x4140), offset), d);
}

DEVICE uint4 loadBytes16(const u8* p) { return __ldg((const uint4*)p); }

// Rows of a format whose bytes stand as in the file: one after the other.
template <int BLOCK, int BYTES> struct PlainRow {
    const u8* data;

    PlainRow() = default;
    DEVICE PlainRow(const u8* w, int, int cols, int row) : data(w + (i64)row * (cols / BLOCK) * BYTES) {}
};

// Rows of a format in planes: q[N][Q], scales[N][S], d[N][D] bytes, N blocks in the whole tensor.
template <int BLOCK, int Q, int S, int D> struct PlanesRow {
    const u8* q;
    const u8* scales;
    const u8* d;

    PlanesRow() = default;
    DEVICE PlanesRow(const u8* w, int rows, int cols, int row) {
        i64 perRow = cols / BLOCK;
        i64 all = rows * perRow;
        i64 first = row * perRow;
        q = w + first * Q;
        scales = w + all * Q + first * S;
        d = w + all * (Q + S) + first * D;
    }
};

// Scales of the four blocks of 32 in a chunk, as halves.
DEVICE void loadScales4(u16 (&d)[4], const u8* row, int chunk, int cols) {
    const u16* from = (const u16*)row + 4 * chunk;
    if (cols % 128 == 0) {
        uint2 all = __ldg((const uint2*)from);
        d[0] = (u16)all.x;
        d[1] = (u16)(all.x >> 16);
        d[2] = (u16)all.y;
        d[3] = (u16)(all.y >> 16);
    } else {
#pragma unroll
        for (int g = 0; g < 4; g++) d[g] = chunk * 128 + g * 32 < cols ? __ldg(from + g) : (u16)0;
    }
}

// Planes q:int8[32], d:f16; two blocks exchange halves if the tensor has an even number of blocks (format_Q8_0.cuh)
struct UnitQ8_0 {
    struct Row {
        const u8* q; // of the tensor
        const u8* d; // of the row
        u32 first;
        u32 pairs;

        Row() = default;
        DEVICE Row(const u8* w, int rows, int cols, int row) : q(w) {
            u32 perRow = cols / 32;
            i64 all = (i64)rows * perRow;
            first = (u32)row * perRow;
            pairs = (u32)all & 1 ^ 1;
            d = w + all * 32 + 2ll * first;
        }
    };
    uint4 q[4];
    u16 d[4];

    DEVICE void load(const Row& row, int chunk, int u, int cols) {
        loadScales4(d, row.d, chunk, cols);
#pragma unroll
        for (int g = 0; g < 4; g++) {
            u32 block = row.first + 4 * chunk + g;
            u32 sixteens = 2 * block - (block & row.pairs) + u * (1 + row.pairs);
            q[g] = chunk * 128 + g * 32 < cols ? loadBytes16(row.q + 16ull * sixteens) : make_uint4(0, 0, 0, 0);
        }
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
        // 0x6480 is 1024 + 128: the flipped top bit makes a signed byte one above it.
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = twice((u32)d[2 * part + g]);
#pragma unroll
            for (int i = 0; i < 4; i++) out[g][i] = scaled(word(q[2 * part + g], i) ^ 0x80808080u, 0x64806480u, scale);
        }
    }
};

// Planes {a, b, c: uint8[64]}, scales:int8[16], d:f16. Levels 0 to 2 are the upper six bits of a, b, c; the fourth is the
// lower two of all three
struct UnitQ6_K {
    using Row = PlanesRow<256, 192, 16, 2>;
    uint4 a, b, c;
    u32 scales;
    u16 d;

    DEVICE void load(const Row& row, int chunk, int u, int) {
        int block = chunk >> 1;
        int half = chunk & 1;
        const u8* q = row.q + block * 192 + 32 * half + 16 * u;
        a = loadBytes16(q);
        b = loadBytes16(q + 64);
        c = loadBytes16(q + 128);
        scales = __ldg((const u32*)(row.scales + block * 16 + 8 * half + 4 * u));
        d = __ldg((const u16*)row.d + block);
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
        u32 both = scalesOf(scales ^ 0x80808080u, part, 0x64806480u, twice((u32)d));
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = g ? twiceHigh(both) : twiceLow(both);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 level;
                if (part == 0 || g == 0) {
                    level = bitsOf(word(part ? c : g ? b : a, i), -2, 0x3f3f3f3fu);
                } else {
                    level = bitsOf(word(a, i), 0, 0x03030303u) | bitsOf(word(b, i), 2, 0x0c0c0c0cu)
                            | bitsOf(word(c, i), 4, 0x30303030u);
                }
                out[g][i] = scaled(level, 0x64206420u, scale);
            }
        }
    }
};

// Rows of Q4_K and Q5_K: planes qs:uint8[128], FIFTHS times u32[4], scales:uint8[16], {d, dmin}:f16[2].
template <int FIFTHS> struct FourBitsRow {
    const u8* q;
    const u8* fifths; // of unit 0; those of unit 1 are `plane` bytes further on
    const u8* scales;
    const u8* d;
    i64 plane;

    FourBitsRow() = default;
    DEVICE FourBitsRow(const u8* w, int rows, int cols, int row) {
        i64 perRow = cols / 256;
        i64 all = rows * perRow;
        i64 first = row * perRow;
        plane = all * 16;
        q = w + first * 128;
        fifths = w + all * 128 + first * 16;
        scales = fifths + FIFTHS * plane;
        d = w + all * (144 + 16 * FIFTHS) + first * 4;
    }
};

// The scales of the groups 2 * part and 2 * part + 1 of a chunk, and minus their minimums. `bytes` are those of the two
// groups, d the block's factors.
DEVICE void scalesAndShifts(u32 bytes, u32 d, u32& scales, u32& shifts) {
    scales = scalesOf(bytes, 0, 0x64006400u, twiceLow(d));
    shifts = scalesOf(bytes, 1, 0x64006400u, twiceHigh(d) ^ 0x80008000u);
}

// Planes qs:uint8[128], scales:uint8[16], {d, dmin}:f16[2]
struct UnitQ4_K {
    using Row = FourBitsRow<0>;
    uint4 a, b;
    uint2 scaleBytes;
    u32 d;

    DEVICE void load(const Row& row, int chunk, int u, int) {
        int block = chunk >> 1;
        const u8* q = row.q + block * 128 + 64 * u + 32 * (chunk & 1);
        a = loadBytes16(q);
        b = loadBytes16(q + 16);
        scaleBytes = __ldg((const uint2*)(row.scales + 8 * chunk));
        d = __ldg((const u32*)row.d + block);
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
        u32 scales, shifts;
        scalesAndShifts(part ? scaleBytes.y : scaleBytes.x, d, scales, shifts);
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = g ? twiceHigh(scales) : twiceLow(scales);
            u32 shift = g ? twiceHigh(shifts) : twiceLow(shifts);
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[g][i] = shifted(bitsOf(word(part ? b : a, i), g ? -4 : 0, 0x0f0f0f0fu), scale, shift);
        }
    }
};

// Planes qs:uint8[128], fifths:u32[2][4], scales:uint8[16], {d, dmin}:f16[2]
struct UnitQ5_K {
    using Row = FourBitsRow<2>;
    uint4 a, b;
    uint2 fifths, scaleBytes;
    u32 d;

    DEVICE void load(const Row& row, int chunk, int u, int) {
        int block = chunk >> 1;
        const u8* q = row.q + block * 128 + 64 * u + 32 * (chunk & 1);
        a = loadBytes16(q);
        b = loadBytes16(q + 16);
        fifths = __ldg((const uint2*)(row.fifths + u * row.plane + 8 * chunk));
        scaleBytes = __ldg((const uint2*)(row.scales + 8 * chunk));
        d = __ldg((const u32*)row.d + block);
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
        u32 scales, shifts;
        scalesAndShifts(part ? scaleBytes.y : scaleBytes.x, d, scales, shifts);
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = g ? twiceHigh(scales) : twiceLow(scales);
            u32 shift = g ? twiceHigh(shifts) : twiceLow(shifts);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 low = bitsOf(word(part ? b : a, i), g ? -4 : 0, 0x0f0f0f0fu);
                u32 high = bitsOf(part ? fifths.y : fifths.x, 4 - (4 * g + i), 0x10101010u);
                out[g][i] = shifted(low | high, scale, shift);
            }
        }
    }
};

// Planes {hmask:uint8[32], qs:uint8[64]}, scales:int8[16], d:f16
struct UnitQ3_K {
    using Row = PlanesRow<256, 96, 16, 2>;
    uint4 q, h;
    u32 scales;
    u16 d;

    DEVICE void load(const Row& row, int chunk, int u, int) {
        int block = chunk >> 1;
        int half = chunk & 1;
        const u8* planes = row.q + block * 96 + 16 * u;
        h = loadBytes16(planes);
        q = loadBytes16(planes + 32 + 32 * half);
        scales = __ldg((const u32*)(row.scales + block * 16 + 8 * half + 4 * u));
        d = __ldg((const u16*)row.d + block);
    }

    DEVICE void decode(int chunk, int, int part, uint2 (&out)[2][4]) const {
        u32 both = scalesOf(scales ^ 0x80808080u, part, 0x64806480u, twice((u32)d));
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = g ? twiceHigh(both) : twiceLow(both);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 low = bitsOf(word(q, i), -2 * (2 * part + g), 0x03030303u);
                u32 high = bitsOf(word(h, i) >> 4 * (chunk & 1), 2 - (2 * part + g), 0x04040404u);
                out[g][i] = scaled(low | high, 0x64046404u, scale);
            }
        }
    }
};

// Planes qs:uint8[64], scales:uint8[16], {d:f16, dmin:f16}
struct UnitQ2_K {
    using Row = PlanesRow<256, 64, 16, 4>;
    uint4 q;
    u32 scales, d;

    DEVICE void load(const Row& row, int chunk, int u, int) {
        int block = chunk >> 1;
        int half = chunk & 1;
        q = loadBytes16(row.q + block * 64 + 32 * half + 16 * u);
        scales = __ldg((const u32*)(row.scales + block * 16 + 8 * half + 4 * u));
        d = __ldg((const u32*)row.d + block);
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
        u32 scaleBoth = scalesOf(scales & 0x0f0f0f0fu, part, 0x64006400u, twiceLow(d));
        u32 shiftBoth = scalesOf(scales >> 4 & 0x0f0f0f0fu, part, 0x64006400u, twiceHigh(d) ^ 0x80008000u);
#pragma unroll
        for (int g = 0; g < 2; g++) {
            u32 scale = g ? twiceHigh(scaleBoth) : twiceLow(scaleBoth);
            u32 shift = g ? twiceHigh(shiftBoth) : twiceLow(shiftBoth);
#pragma unroll
            for (int i = 0; i < 4; i++)
                out[g][i] = shifted(bitsOf(word(q, i), -2 * (2 * part + g), 0x03030303u), scale, shift);
        }
    }
};

struct UnitF16 {
    using Row = PlainRow<1, 2>;
    uint4 v[4][2];

    DEVICE void load(const Row& row, int chunk, int u, int cols) {
#pragma unroll
        for (int g = 0; g < 4; g++) {
            int col = chunk * 128 + g * 32;
            const u8* from = row.data + 2ll * (col + 16 * u);
            v[g][0] = col < cols ? loadBytes16(from) : make_uint4(0, 0, 0, 0);
            v[g][1] = col < cols ? loadBytes16(from + 16) : make_uint4(0, 0, 0, 0);
        }
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint4& from = v[2 * part + i / 2][i % 2];
            out[i / 2][2 * (i % 2)] = make_uint2(from.x, from.y);
            out[i / 2][2 * (i % 2) + 1] = make_uint2(from.z, from.w);
        }
    }
};

struct UnitBF16 {
    using Row = PlainRow<1, 2>;
    UnitF16 bits;

    DEVICE void load(const Row& row, int chunk, int u, int cols) { bits.load(row, chunk, u, cols); }

    static DEVICE u32 convert(u32 two) {
        return halvesClamped(__uint_as_float(two << 16), __uint_as_float(two & 0xffff0000u));
    }

    DEVICE void decode(int chunk, int u, int part, uint2 (&out)[2][4]) const {
        bits.decode(chunk, u, part, out);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            uint2& two = out[i / 4][i % 4];
            two = make_uint2(convert(two.x), convert(two.y));
        }
    }
};

struct UnitF32 {
    using Row = PlainRow<1, 4>;
    float4 v[4][4];

    DEVICE void load(const Row& row, int chunk, int u, int cols) {
#pragma unroll
        for (int g = 0; g < 4; g++) {
            int col = chunk * 128 + g * 32;
            const float4* from = (const float4*)(row.data + 4ll * (col + 16 * u));
#pragma unroll
            for (int i = 0; i < 4; i++) v[g][i] = col < cols ? __ldg(from + i) : make_float4(0, 0, 0, 0);
        }
    }

    DEVICE void decode(int, int, int part, uint2 (&out)[2][4]) const {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const float4& from = v[2 * part + i / 4][i % 4];
            out[i / 4][i % 4] = make_uint2(halvesClamped(from.x, from.y), halvesClamped(from.z, from.w));
        }
    }
};

// Somebody else's format (formats.cuh), decoded to floats eight weights at a time, straight from memory.
template <class F> struct ForeignUnit {
    struct Row {
        const u8* base;
        i64 firstBlock;

        Row() = default;
        DEVICE Row(const u8* w, int, int cols, int row) : base(w), firstBlock((i64)row * (cols / F::BLOCK)) {}
    };
    Row row;
    int cols;

    DEVICE void load(const Row& from, int, int, int width) {
        row = from;
        cols = width;
    }

    DEVICE void decode(int chunk, int u, int part, uint2 (&out)[2][4]) const {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int col = chunk * 128 + (2 * part + i / 2) * 32 + 16 * u + 8 * (i % 2);
            float v[8] = {};
            if (col < cols) F::decode8(row.base, 0, row.firstBlock + col / F::BLOCK, col % F::BLOCK, v);
            out[i / 2][2 * (i % 2)] = make_uint2(halvesClamped(v[0], v[1]), halvesClamped(v[2], v[3]));
            out[i / 2][2 * (i % 2) + 1] = make_uint2(halvesClamped(v[4], v[5]), halvesClamped(v[6], v[7]));
        }
    }
};
