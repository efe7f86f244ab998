// Units of formats that are made of their layouts (layout.cuh).
#pragma once
#include "formats.cuh"
#include "unit.cuh"

template <class L> struct LayoutUnit {
    typedef LayoutPlanes<L> Planes;
    static constexpr int UNITS = 128 / L::UNIT; // units of a chunk, as layout.cuh has them
    static constexpr int FACTORS = Planes::PER_GROUP >= UNITS ? 1 : UNITS;

    struct Row {
        const u8* q;
        const u8* planes[Planes::COUNT];
        u32 first; // unit

        Row() = default;
        DEVICE Row(const u8* w, int rows, int cols, int row) {
            u32 perRow = cols / L::UNIT;
            first = (u32)row * perRow;
            q = w + 16ull * Planes::PIECES * first;
#pragma unroll
            for (int i = 0; i < Planes::COUNT; i++) planes[i] = w + Planes::at((i64)rows * perRow, i);
        }
    };
    uint4 q[UNITS];
    u32 w[Planes::WORDS > 0 ? Planes::WORDS : 1][UNITS];
    u32 scales[Planes::BYTES > 0 ? UNITS : 1];
    u32 minimums[Planes::APART ? UNITS : 1];
    u32 d[FACTORS];
    u32 m[L::FLOATS && L::MINIMUMS ? FACTORS : 1];

    DEVICE void load(const Row& row, int chunk, int u, int cols) {
#pragma unroll
        for (int g = 0; g < UNITS; g++) {
            const int own = UNITS * chunk + g;
            const bool there = own * L::UNIT < cols;
            const u32 unit = row.first + own;
            const u8* from = row.q + 16ull * (Planes::PIECES * own + (L::BITS == 8 ? u : 0));
            q[g] = there ? loadBytes16(from) : make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int i = 0; i < Planes::WORDS; i++) w[i][g] = there ? word(row, i, unit) : 0u;
            if constexpr (Planes::BYTES > 0)
                scales[g] = there ? bytes<Planes::BYTES>(row.planes[Planes::FIRST_SCALES], unit) : 0u;
            if constexpr (Planes::APART)
                minimums[g] = there ? bytes<4>(row.planes[Planes::FIRST_SCALES + 1], unit) : 0u;
            if (g < FACTORS) {
                const u32 group = unit / Planes::PER_GROUP;
                d[g] = there ? bytes<Planes::FACTOR>(row.planes[Planes::FIRST_FACTORS], group) : 0u;
                if constexpr (L::FLOATS && L::MINIMUMS)
                    m[g] = there ? bytes<4>(row.planes[Planes::COUNT - 1], group) : 0u;
            }
        }
    }

    static DEVICE u32 word(const Row& row, int plane, u32 i) { return __ldg((const u32*)row.planes[plane] + i); }

    template <int N> static DEVICE u32 bytes(const u8* plane, u32 i) {
        if constexpr (N == 4) {
            return __ldg((const u32*)plane + i);
        } else if constexpr (N == 2) {
            return __ldg((const u16*)plane + i);
        } else {
            return __ldg(plane + i);
        }
    }

    // four levels of the 16 weights: g is known when compiling, u is not
    DEVICE u32 levels(int g, int u, int i) const {
        if constexpr (L::TABLE) {
            const u32 numbers = L::table()(::word(q[g], i) >> 16 * u);
            return L::SIGNED ? numbers ^ 0x80808080u : numbers;
        } else if constexpr (L::BITS == 8) {
            return ::word(q[g], i);
        } else if constexpr (L::BITS <= 3) {
            const int unit = g >> 1;
            u32 level = bitsOf(::word(q[unit], i) >> 2 * u, -4 * (g & 1), 0x03030303u);
            if constexpr (Planes::ONES) level |= bitsOf(w[g & 1][unit] >> 4 * u, 2 - i, 0x04040404u);
            return level;
        } else {
            u32 level = ::word(q[g], i) >> 4 * u & 0x0f0f0f0fu;
            if constexpr (Planes::PAIRS) level |= bitsOf(u ? w[1][g] : w[0][g], 4 - 2 * i, 0x30303030u);
            if constexpr (L::BITS == 5) level |= bitsOf(w[0][g] >> 4 * u, 4 - i, 0x10101010u);
            if constexpr (L::BITS == 7) level |= bitsOf(w[2][g] >> 4 * u, 6 - i, 0x40404040u);
            return level;
        }
    }

    // a factor as a half, twice
    static DEVICE u32 half(u32 bits) {
        return twice(L::FLOATS ? (u32)floatToHalf(clampToHalf(__uint_as_float(bits))) : bits & 0xffffu);
    }

    // a whole number times a factor, twice
    static DEVICE u32 times(u32 byte, bool isSigned, u32 factor, float unit) {
        const u32 n = isSigned ? subHalves(twice(0x6400u | (byte & 255 ^ 128)), 0x64806480u)
                               : subHalves(twice(0x6400u | byte & 255), 0x64006400u);
        return scaledBy(mulHalves(n, factor), unit);
    }

    static DEVICE u32 scaledBy(u32 halves, float unit) {
        return unit == 1.f ? halves : mulHalves(halves, twice((u32)floatToHalf(unit)));
    }

    DEVICE void decode(int, int u, int part, uint2 (&out)[2][4]) const {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const int g = 2 * part + n;
            const int unit = L::UNIT == 64 ? g >> 1 : g;
            const int chunk = (L::UNIT == 64 ? (L::CHUNK == 16 ? 2 * (g & 1) : g & 1) : 0) + (L::CHUNK == 16 ? u : 0);
            const u32 d = this->d[FACTORS == 1 ? 0 : unit];
            u32 scale = L::WHOLE ? times(scales[Planes::BYTES > 0 ? unit : 0] >> 8 * chunk, L::SIGNED_SCALES, half(d),
                                         L::scaleUnit())
                                 : scaledBy(half(d), L::scaleUnit());
            if constexpr (L::MINIMUMS) {
                const u32 factor = half(L::FLOATS ? m[FACTORS == 1 ? 0 : unit] : d >> 16) ^ 0x80008000u;
                const u32 all = Planes::APART ? minimums[Planes::APART ? unit : 0]
                                              : scales[Planes::BYTES > 0 ? unit : 0] >> 8 * Planes::SCALES;
                u32 shift = L::WHOLE_MINIMUMS ? times(all >> 8 * chunk, false, factor, L::minimumUnit())
                                              : scaledBy(factor, L::minimumUnit());
#pragma unroll
                for (int i = 0; i < 4; i++) out[n][i] = shifted(levels(g, u, i), scale, shift);
            } else {
                constexpr u32 ZERO = L::TABLE ? 128 : 1 << L::BITS - 1;
#pragma unroll
                for (int i = 0; i < 4; i++) out[n][i] = scaled(levels(g, u, i), (0x6400u | ZERO) * 0x10001u, scale);
            }
        }
    }
};

// The unit of a format that is not one of ours.
template <class F> struct UnitOf {
    typedef ForeignUnit<F> Type;
};
template <class L> struct UnitOf<FromLayout<L>> {
    typedef LayoutUnit<L> Type;
};

typedef LayoutUnit<Q4_0> UnitQ4_0;
typedef LayoutUnit<Q4_1> UnitQ4_1;
typedef LayoutUnit<IQ4_NL> UnitIQ4_NL;
