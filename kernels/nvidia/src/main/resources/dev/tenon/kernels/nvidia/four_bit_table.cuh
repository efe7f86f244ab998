// Levels out of a table: 32 indices of four bits, sixteen levels of a signed byte each.
//
//   GGUF     byte l      index of weight l in bits 0-3, of weight 16 + l in bits 4-7                 l in 0..15
//   device   word i      index of weight 4i + k in bits 4k .., of weight 16 + 4i + k in bits 16 + 4k ..  k in 0..3
//
// On the device four neighbouring indices are the selector of a byte permutation.
#pragma once
#include "common.cuh"

// Sixteen bytes; the first one of a word is its lowest.
struct Table16 {
    u32 words[4];

    // the bytes that the four lowest nibbles of `indices` name
    DEVICE u32 operator()(u32 indices) const {
        const u32 first = __byte_perm(words[0], words[1], indices);
        const u32 last = __byte_perm(words[2], words[3], indices);
        return __byte_perm(first, last, andOr(indices >> 1, 0x4444u, 0x3210u)); // byte k of `first` or of `last`
    }
};

struct FourBitTable {
    // sixteen bytes of GGUF to four words
    static DEVICE void repack(const u8* qs, u8* to) {
        for (int i = 0; i < 4; i++) {
            u32 word = 0;
            for (int k = 0; k < 4; k++) {
                word |= (u32) (qs[4 * i + k] & 15) << 4 * k | (u32) (qs[4 * i + k] >> 4) << (16 + 4 * k);
            }
            ((u32*) to)[i] = word;
        }
    }

    // the 16 weights number `half` of the words
    static DEVICE uint4 levels(const Table16& table, const uint4& q, int half) {
        const int by = 16 * half;
        return make_uint4(table(q.x >> by), table(q.y >> by), table(q.z >> by), table(q.w >> by));
    }

    // weight `i` of 32
    static DEVICE int level(const Table16& table, const u8* words, int i) {
        const u32 index = ((const u32*) words)[i >> 2 & 3] >> (16 * (i >> 4) + 4 * (i & 3)) & 15;
        return (i8) (table.words[index >> 2] >> 8 * (index & 3));
    }
};
