// A format that is made of its layout. The host describes a block of the file by a struct L:
//
//   BLOCK, BYTES       weights and bytes of a block          WHOLE, WHOLE_MINIMUMS   whether scales and minimums are
//   BITS               of a level on the device, 2 to 8                              whole numbers times a factor
//   SIGNED             levels have 1 << BITS - 1 subtracted  SIGNED_SCALES           scales are signed bytes
//   TABLE              levels are indices of L::table()      FLOATS                  factors are floats, else halves
//   MINIMUMS           there are some; levels are unsigned   GROUP                   weights under one factor
//   UNIT, CHUNK        as in formats.cuh                     scaleUnit(), minimumUnit()      powers of two
//
//   level(in, i), scale(in, i), minimum(in, i), factor(in, i), minimumFactor(in, i)      of weight i of a block at `in`
//
//   weight = factor * scaleUnit * scale * level - minimumFactor * minimumUnit * minimum
//
// On the device a unit of 32 weights (or 64 of two or three bits) lies in planes, each from a multiple of 16 bytes on:
//
//   pieces     16 bytes of each unit (32 of eight bits): four bits of every weight, or two of a unit of 64
//                  four bits     weight 16n + l in bits 4n .. of byte l                              l in 0..15
//                  a table       as in four_bit_table.cuh, whose words are selectors of a byte permutation
//                  two bits      weight 16p + l in bits 2p .. of byte l
//                  eight bits    byte l of piece n is weight 16n + l
//   words      the further bits, a plane for each word of a unit:
//                  two bits, BITS 6 and 7      word n: weight 16n + l in bits 8 (l % 4) + 2 (l / 4) ..   l in 0..15
//                  one bit, BITS 3, 5 and 7    word j: weight 32j + 16n + l in bit 8 (l % 4) + 4n + l / 4
//   scales     a byte for each chunk of a unit, then minimums, a byte for each chunk: in one plane if all are 4 bytes at
//              most, else in two
//   factors    one for each group, and the minimums' behind it
#pragma once
#include "common.cuh"
#include "four_bit_table.cuh"

// Bits of a block of the file, from the lowest bit of its first byte on.
DEVICE u32 bitsAt(const u8* in, int bit, int width) {
    u64 bits = 0;
    for (int i = (bit + width - 1) >> 3; i >= bit >> 3; i--) {
        bits = bits << 8 | in[i];
    }
    return (u32) (bits >> (bit & 7)) & 0xffffffffu >> (32 - width);
}

// Digit n, from the highest on, of a number below 256 in base 3 (Numbers.Type.TRITS).
DEVICE u32 digitOf3(u32 byte, int n) {
    for (int i = 0; i < n; i++) byte *= 3;
    return (byte & 255) * 3 >> 8;
}

// Numbers.Type.E8M0_HALF
DEVICE float halfOfPower(u32 e) { return __uint_as_float(e > 1 ? e - 1 << 23 : 0x200000u << e); }

// Numbers.Type.UE4M3_HALF
DEVICE float halfOfSmallFloat(u32 bits) {
    const u32 x = bits >> 3 & 15;
    const float m = bits & 7;
    const bool none = bits == 0x7f || bits == 0x80;
    return none ? 0.f : x == 0 ? m * (1.f / 1024) : (1 + m / 8) * __uint_as_float(x + 119 << 23);
}

// Bits `mask` of every byte, moved up by `by` bits (down if negative).
DEVICE u32 moved(u32 bytes, int by, u32 mask) { return (by >= 0 ? bytes << by : bytes >> -by) & mask; }

DEVICE u32 wordOf(const uint4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Where the parts of a unit lie, and how its levels are put together.
template <class L>
struct LayoutPlanes {
    static constexpr int PIECES = L::BITS == 8 ? 2 : 1;
    static constexpr bool PAIRS = L::BITS == 6 || L::BITS == 7;
    static constexpr bool ONES = L::BITS == 3 || L::BITS == 5 || L::BITS == 7;
    static constexpr int WORDS = (PAIRS ? 2 : 0) + (ONES ? L::UNIT / 32 : 0);
    static constexpr int CHUNKS = L::UNIT / L::CHUNK;
    static constexpr int SCALES = L::WHOLE ? CHUNKS : 0;
    static constexpr int MINIMUMS = L::WHOLE_MINIMUMS ? CHUNKS : 0;
    static constexpr bool APART = SCALES + MINIMUMS > 4; // minimums have a plane of their own
    static constexpr int BYTES = APART ? 4 : SCALES + MINIMUMS;
    static constexpr int FACTOR = (L::FLOATS ? 4 : 2) * (L::MINIMUMS && !L::FLOATS ? 2 : 1);
    static constexpr int PER_GROUP = L::GROUP / L::UNIT;

    // planes of words that a lane copies, in their order
    static constexpr int FIRST_SCALES = WORDS;
    static constexpr int FIRST_FACTORS = WORDS + (BYTES > 0) + APART;
    static constexpr int COUNT = FIRST_FACTORS + 1 + (L::MINIMUMS && L::FLOATS);

    static constexpr DEVICE int log2(int n) { return n <= 1 ? 0 : 1 + log2(n / 2); }

    // units that share a word of a plane, as a power of two
    static constexpr DEVICE int shift(int plane) {
        return plane < WORDS ? 0
                : plane < FIRST_FACTORS ? log2(4 / (BYTES > 0 ? BYTES : 4))
                : log2(PER_GROUP) + (FACTOR == 2 ? 1 : 0);
    }

    static DEVICE i64 padded(i64 bytes) { return bytes + 15 & ~15ll; }

    // where a plane of words begins in a tensor of so many units
    static DEVICE i64 at(i64 units, int plane) {
        i64 at = units * 16 * PIECES;
        for (int i = 0; i < plane; i++) {
            at += padded(i < WORDS ? 4 * units : i < FIRST_FACTORS ? BYTES * units : FACTOR * (units / PER_GROUP));
        }
        return at;
    }

    // Weights 4k .. 4k + 3 of the i-th 16 of a unit: levels in bits UP .. of four bytes. Both known when compiling.
    template <int UP>
    static DEVICE u32 four(const uint4 (&q)[PIECES], const u32* w, int i, int k) {
        if constexpr (L::BITS == 8) {
            return wordOf(q[i], k);
        } else if constexpr (L::BITS <= 3) {
            const u32 low = moved(wordOf(q[0], k), UP - 2 * i, 0x03030303u << UP);
            return ONES ? low | moved(w[i >> 1], UP + 2 - (4 * (i & 1) + k), 0x04040404u << UP) : low;
        } else {
            u32 level = moved(wordOf(q[0], k), UP - 4 * i, 0x0f0f0f0fu << UP);
            if constexpr (PAIRS) {
                level |= moved(w[i], UP + 4 - 2 * k, 0x30303030u << UP);
            }
            if constexpr (ONES) {
                constexpr u32 BIT = L::BITS == 5 ? 4 : 6;
                level |= moved(w[WORDS - 1], UP + (int) BIT - (4 * i + k), 0x01010101u << BIT + UP);
            }
            return level;
        }
    }

    // puts a level of a unit into its pieces and words
    static DEVICE void put(u32* pieces, u32* words, int i, u32 level) {
        const int l = i & 15;
        const int n = i >> 4;
        const int byte = 8 * (l & 3);
        if (L::BITS == 8) {
            pieces[4 * n + (l >> 2)] |= level << byte;
        } else if (L::BITS <= 3) {
            pieces[l >> 2] |= (level & 3) << (byte + 2 * n);
        } else if (L::TABLE) {
            pieces[l >> 2] |= level << (16 * n + 4 * (l & 3));
        } else {
            pieces[l >> 2] |= (level & 15) << (byte + 4 * n);
        }
        if (PAIRS) {
            words[n] |= (level >> 4 & 3) << (byte + 2 * (l >> 2));
        }
        if (ONES) {
            constexpr int BIT = L::BITS == 3 ? 2 : L::BITS == 5 ? 4 : 6;
            words[(PAIRS ? 2 : 0) + (n >> 1)] |= (level >> BIT & 1) << (byte + 4 * (n & 1) + (l >> 2));
        }
    }
};

template <class L>
struct FromLayout {
    typedef L Layout;
    typedef LayoutPlanes<L> Planes;
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = L::BLOCK;
    static constexpr int BYTES = L::BYTES;
    static constexpr int UNIT = L::UNIT;
    static constexpr int CHUNK = L::CHUNK;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = L::MINIMUMS;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 16 * Planes::PIECES;
    static constexpr int STEP16 = 16;
    static constexpr int PIECES16 = Planes::PIECES;
    static constexpr int PIECES4 = Planes::COUNT;
    static constexpr int UNITS = BLOCK / UNIT;
    // signed levels are kept in the upper bits of their bytes, with the sign bit turned
    static constexpr int UP = L::SIGNED && !L::TABLE ? 8 - L::BITS : 0;

    struct Lane {
        uint4 q[Planes::PIECES];
        u32 w[Planes::WORDS > 0 ? Planes::WORDS : 1];
        u32 scales;
        u32 minimums;
        u32 d;
        u32 m;
    };

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + Planes::at(blocks * UNITS, i); }

    static constexpr DEVICE int shift4(int i) { return Planes::shift(i); }

    static DEVICE Lane lane(const uint4 (&p)[PIECES16], const u32 (&w)[PIECES4], u32 unit) {
        Lane lane;
#pragma unroll
        for (int i = 0; i < Planes::PIECES; i++) lane.q[i] = p[i];
#pragma unroll
        for (int i = 0; i < Planes::WORDS; i++) lane.w[i] = w[i];
        if constexpr (Planes::BYTES > 0) {
            lane.scales = Planes::BYTES == 4 ? w[Planes::FIRST_SCALES]
                    : w[Planes::FIRST_SCALES] >> 8 * Planes::BYTES * (unit & 4 / Planes::BYTES - 1);
            lane.minimums = Planes::APART ? w[Planes::FIRST_SCALES + 1] : lane.scales >> 8 * Planes::SCALES;
        }
        lane.d = w[Planes::FIRST_FACTORS];
        if constexpr (Planes::FACTOR == 2) {
            lane.d >>= 16 * (unit / Planes::PER_GROUP & 1);
        }
        lane.m = L::MINIMUMS && L::FLOATS ? w[PIECES4 - 1] : 0;
        return lane;
    }

    static DEVICE u32 word(const Lane& lane, int i, int k) {
        if constexpr (L::TABLE) {
            return L::table()(wordOf(lane.q[0], k) >> 16 * i);
        } else {
            const u32 levels = Planes::template four<UP>(lane.q, lane.w, i, k);
            return L::SIGNED ? levels ^ 0x80808080u : levels;
        }
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        return make_uint4(word(lane, i, 0), word(lane, i, 1), word(lane, i, 2), word(lane, i, 3));
    }

    static DEVICE int scale(const Lane& lane, int, int i) {
        return !L::WHOLE ? 1 : L::SIGNED_SCALES ? signedByte(lane.scales, i) : lane.scales >> 8 * i & 255;
    }

    static DEVICE int minimum(const Lane& lane, int, int i) {
        return L::WHOLE_MINIMUMS ? lane.minimums >> 8 * i & 255 : 1;
    }

    static DEVICE float factor(const Lane& lane) {
        return (L::FLOATS ? __uint_as_float(lane.d) : lowHalf(lane.d)) * (L::scaleUnit() / (1 << UP));
    }

    static DEVICE float minimumFactor(const Lane& lane) {
        return (L::FLOATS ? __uint_as_float(lane.m) : highHalf(lane.d)) * L::minimumUnit();
    }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const i64 units = blocks * UNITS;
        const i64 unit = block * UNITS + first / UNIT;
        uint4 q[PIECES16];
        u32 w[PIECES4];
        for (int i = 0; i < PIECES16; i++) q[i] = *(const uint4*) (base + unit * STRIDE + 16 * i);
        for (int i = 0; i < PIECES4; i++) {
            w[i] = ((const u32*) (base + Planes::at(units, i)))[unit >> Planes::shift(i)];
        }
        const Lane unpacked = lane(q, w, (u32) unit);
        const int in = first % UNIT;
        for (int chunk = 0; chunk < UNIT / CHUNK; chunk++) {
            const float d = factor(unpacked) * scale(unpacked, 0, chunk);
            const float m = MINIMUMS ? minimumFactor(unpacked) * minimum(unpacked, 0, chunk) : 0.f;
#pragma unroll
            for (int k = 0; k < CHUNK / 4; k++) {
                const int at = chunk * CHUNK + 4 * k;
                const u32 four = word(unpacked, at / 16, at / 4 % 4);
                for (int j = 0; j < 4; j++) {
                    const int level = MINIMUMS ? four >> 8 * j & 255 : signedByte(four, j);
                    if (at + j >= in && at + j < in + 8) out[at + j - in] = d * level - m;
                }
            }
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        const i64 units = blocks * UNITS;
        for (int j = 0; j < UNITS; j++) {
            const i64 unit = block * UNITS + j;
            u32 pieces[4 * PIECES16] = {};
            u32 words[4] = {};
            for (int i = 0; i < UNIT; i++) {
                Planes::put(pieces, words, i, L::level(in, j * UNIT + i));
            }
            for (int i = 0; i < 4 * PIECES16; i++) {
                ((u32*) (base + unit * STRIDE))[i] = pieces[i];
            }
            for (int i = 0; i < Planes::WORDS; i++) {
                ((u32*) (base + Planes::at(units, i)))[unit] = words[i];
            }
            u8* scales = base + Planes::at(units, Planes::FIRST_SCALES) + unit * Planes::BYTES;
            u8* minimums = Planes::APART ? base + Planes::at(units, Planes::FIRST_SCALES + 1) + unit * 4
                                         : scales + Planes::SCALES;
            for (int i = 0; i < Planes::CHUNKS; i++) {
                if (L::WHOLE) scales[i] = (u8) L::scale(in, j * UNIT + i * CHUNK);
                if (L::WHOLE_MINIMUMS) minimums[i] = (u8) L::minimum(in, j * UNIT + i * CHUNK);
            }
            if (j % Planes::PER_GROUP == 0) {
                const i64 group = unit / Planes::PER_GROUP;
                const float d = L::factor(in, j * UNIT);
                const float m = L::MINIMUMS ? L::minimumFactor(in, j * UNIT) : 0.f;
                u8* to = base + Planes::at(units, Planes::FIRST_FACTORS) + group * Planes::FACTOR;
                if (L::FLOATS) {
                    *(float*) to = d;
                    if (L::MINIMUMS) ((float*) (base + Planes::at(units, PIECES4 - 1)))[group] = m;
                } else {
                    ((u16*) to)[0] = floatToHalf(d);
                    if (L::MINIMUMS) ((u16*) to)[1] = floatToHalf(m);
                }
            }
        }
    }
};
