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

    // Words beside the pieces: of each plane as many bytes as the units have there, one after the other. What a format
    // does not have takes no room, since the kernels conclude from sizeof how many blocks share a multiprocessor.
    static constexpr DEVICE int words(int bytes, int units) { return (bytes * units + 3) / 4; }
    static constexpr int SCALES = Planes::WORDS * UNITS;
    static constexpr int MINIMUMS = SCALES + words(Planes::BYTES, UNITS);
    static constexpr int D = MINIMUMS + (Planes::APART ? UNITS : 0);
    static constexpr int M = D + words(Planes::FACTOR, FACTORS);
    uint4 q[UNITS];
    u32 w[M + (L::FLOATS && L::MINIMUMS ? FACTORS : 0)];

    DEVICE void load(const Row& row, int chunk, int u, int cols) {
        const int own = UNITS * chunk;
        const int units = cols / L::UNIT - own; // from here on in the row
        const u32 first = row.first + own;
        const bool whole = cols % 128 == 0;
#pragma unroll
        for (int g = 0; g < UNITS; g++) {
            const u8* from = row.q + 16ull * (Planes::PIECES * (own + g) + (L::BITS == 8 ? u : 0));
            q[g] = g < units ? loadBytes16(from) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < Planes::WORDS; i++) copy<4>(w + UNITS * i, row.planes[i], first, units, whole);
        if constexpr (Planes::BYTES > 0)
            copy<Planes::BYTES>(w + SCALES, row.planes[Planes::FIRST_SCALES], first, units, whole);
        if constexpr (Planes::APART) copy<4>(w + MINIMUMS, row.planes[Planes::FIRST_SCALES + 1], first, units, whole);
        factors<Planes::FACTOR>(w + D, row.planes[Planes::FIRST_FACTORS], first, units, whole);
        if constexpr (L::FLOATS && L::MINIMUMS)
            factors<4>(w + M, row.planes[Planes::COUNT - 1], first, units, whole);
    }

    // N bytes of each unit of a chunk; those of a whole chunk are one load
    template <int N> static DEVICE void copy(u32* to, const u8* plane, u32 first, int units, bool whole) {
        constexpr int ALL = N * UNITS;
        const u8* from = plane + (u64)N * first;
        if (!whole) {
#pragma unroll
            for (int i = 0; i < words(N, UNITS); i++) to[i] = 0;
#pragma unroll
            for (int g = 0; g < UNITS; g++)
                if (g < units) to[N * g / 4] |= bytes<N>(from, g) << 8 * (N * g % 4);
        } else if constexpr (ALL == 16) {
            const uint4 four = loadBytes16(from);
#pragma unroll
            for (int i = 0; i < 4; i++) to[i] = ::word(four, i);
        } else if constexpr (ALL == 8) {
            const uint2 two = __ldg((const uint2*)from);
            to[0] = two.x;
            to[1] = two.y;
        } else {
            to[0] = bytes<ALL>(from, 0);
        }
    }

    template <int N> static DEVICE void factors(u32* to, const u8* plane, u32 first, int units, bool whole) {
        if constexpr (Planes::PER_GROUP == 1) {
            copy<N>(to, plane, first, units, whole);
        } else {
#pragma unroll
            for (int i = 0; i < words(N, FACTORS); i++) to[i] = 0;
#pragma unroll
            for (int g = 0; g < FACTORS; g++)
                if (g < units) to[N * g / 4] |= bytes<N>(plane, (first + g) / Planes::PER_GROUP) << 8 * (N * g % 4);
        }
    }

    // what stands behind the words of a unit belongs to the next
    template <int N> DEVICE u32 of(int plane, int unit) const { return w[plane + N * unit / 4] >> 8 * (N * unit % 4); }

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
            if constexpr (Planes::ONES) level |= bitsOf(w[UNITS * (g & 1) + unit] >> 4 * u, 2 - i, 0x04040404u);
            return level;
        } else {
            u32 level = ::word(q[g], i) >> 4 * u & 0x0f0f0f0fu;
            if constexpr (Planes::PAIRS) level |= bitsOf(u ? w[UNITS + g] : w[g], 4 - 2 * i, 0x30303030u);
            if constexpr (L::BITS == 5) level |= bitsOf(w[g] >> 4 * u, 4 - i, 0x10101010u);
            if constexpr (L::BITS == 7) level |= bitsOf(w[2 * UNITS + g] >> 4 * u, 6 - i, 0x40404040u);
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
            const int factor = FACTORS == 1 ? 0 : unit;
            const u32 d = of<Planes::FACTOR>(D, factor);
            u32 scale = scaledBy(half(d), L::scaleUnit());
            if constexpr (L::WHOLE)
                scale = times(of<Planes::BYTES>(SCALES, unit) >> 8 * chunk, L::SIGNED_SCALES, half(d), L::scaleUnit());
            if constexpr (L::MINIMUMS) {
                const u32 m = half(L::FLOATS ? of<4>(M, factor) : d >> 16) ^ 0x80008000u;
                u32 shift = scaledBy(m, L::minimumUnit());
                if constexpr (L::WHOLE_MINIMUMS) {
                    const u32 all = Planes::APART ? of<4>(MINIMUMS, unit)
                                                  : of<Planes::BYTES>(SCALES, unit) >> 8 * Planes::SCALES;
                    shift = times(all >> 8 * chunk, false, m, L::minimumUnit());
                }
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
