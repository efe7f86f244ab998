// Keys and values as the tensor cores' attention reads them (attention_tensor.cuh): rows of the cache, 16 positions at
// a time, by element type.
#pragma once
#include "attention_part.cuh"
#include "tensor_core.cuh"

// low halves of a and b, high halves of a and b
DEVICE u32 lowHalves(u32 a, u32 b) { return __byte_perm(a, b, 0x5410); }

DEVICE u32 highHalves(u32 a, u32 b) { return __byte_perm(a, b, 0x7632); }

// 16 keys or values of an element type, in shared memory as in the cache.
//
//   keys, values         what a lane has of them, as halves
//   SCALED               whether scores of 32 elements have to be multiplied with scales that `keys` gives
//   position             of the 16, that values have as row i of a product; keys are asked for in the same order
//   keyAt, valueAt       where the halves of a row that is not in the cache yet stand, so that a lane reads 16 bytes:
//                        of keys, and of queries, 32 side by side of each 64 elements
//   firstFour, otherFour where, in each 64 elements of a sum, a lane's stand
//
// So that the lanes of a read meet no bank twice, halves of keys and values are taken in this order (see kv_cache.cuh for
// where they stand), those of Q8_0 in another one.
template <class Kv, int D>
struct Rows;

// Which row of a product of 16 rows a lane 4r + j has as its number n of four, as the left factor's columns.
DEVICE int rowOfProduct(int j, int n) { return 2 * j + n % 2 + n / 2 * 8; }

template <int D>
struct Rows<KvF16, D> {
    static constexpr int ROW = 2 * D;
    static constexpr bool SCALED = false;

    static DEVICE int position(int i) { return i; }

    static DEVICE int keyAt(int e) { return e; }

    static DEVICE int valueAt(int e) { return e; }

    // elements 64h + 16j .. + 15 of two positions
    static DEVICE void keys(u32 from, const int (&own)[2], int j, uint4 (&k)[2][D / 32], float (&)[2][D / 32]) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int c = 0; c < D / 32; c++) {
                k[n][c] = readShared16(from + own[n] * ROW + c / 2 * 128 + (((2 * j + c % 2) ^ own[n] % 8) << 4));
            }
        }
    }

    // elements 64h + 8r .. + 7 of four positions
    static DEVICE void values(u32 from, int r, int j, uint4 (&v)[4][D / 64]) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
            for (int h = 0; h < D / 64; h++) {
                const int own = position(rowOfProduct(j, n));
                v[n][h] = readShared16(from + own * ROW + 128 * h + ((r ^ own % 8) << 4));
            }
        }
    }

    static DEVICE int firstFour(int r) { return 8 * r; }

    static DEVICE int otherFour(int r) { return 8 * r + 4; }
};

template <int D>
struct Rows<KvQ8_0, D> {
    static constexpr int ROW = D + D / 16;
    static constexpr bool SCALED = true;

    // so that a lane has four values side by side
    static DEVICE int position(int i) { return i % 8 / 2 * 4 + i / 8 * 2 + i % 2; }

    static DEVICE int keyAt(int e) {
        return (e & ~63) + 16 * (e >> 2 & 3) + 8 * (e >> 5 & 1) + 4 * (e >> 4 & 1) + (e & 3);
    }

    static DEVICE int valueAt(int e) { return (e & ~63) + 8 * (e >> 2 & 7) + 4 * (e >> 5 & 1) + (e & 3); }

    // four signed bytes as halves: 1024 + 128 + each, less 1152
    static DEVICE uint2 decoded(u32 word) {
        const u32 shifted = word ^ 0x80808080;
        return make_uint2(subHalves(__byte_perm(shifted, 0x64646464, 0x4140), 0x64806480),
                subHalves(__byte_perm(shifted, 0x64646464, 0x4342), 0x64806480));
    }

    // elements 32c + 4j .. + 3 and 32c + 16 + 4j .. + 3, and the scales of both positions
    static DEVICE void keys(u32 from, const int (&own)[2], int j, uint4 (&k)[2][D / 32], float (&scale)[2][D / 32]) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const u32 row = from + own[n] * ROW;
#pragma unroll
            for (int c = 0; c < D / 32; c++) {
                const uint2 a = decoded(readShared4(row + 32 * c + 4 * j));
                const uint2 b = decoded(readShared4(row + 32 * c + 4 * j + 16));
                k[n][c] = make_uint4(a.x, a.y, b.x, b.y);
                if (c % 2 == 0) {
                    const u32 two = readShared4(row + D + 2 * c);
                    scale[n][c] = lowHalf(two);
                    scale[n][c + 1] = highHalf(two);
                }
            }
        }
    }

    // elements 64h + 4r .. + 3 and 64h + 32 + 4r .. + 3, times their scales
    static DEVICE void values(u32 from, int r, int j, uint4 (&v)[4][D / 64]) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const u32 row = from + position(rowOfProduct(j, n)) * ROW;
#pragma unroll
            for (int h = 0; h < D / 64; h++) {
                const uint2 a = decoded(readShared4(row + 64 * h + 4 * r));
                const uint2 b = decoded(readShared4(row + 64 * h + 4 * r + 32));
                const u32 two = readShared4(row + D + 4 * h);
                const u32 low = lowHalves(two, two);
                const u32 high = highHalves(two, two);
                v[n][h] = make_uint4(mulHalves(a.x, low), mulHalves(a.y, low), mulHalves(b.x, high),
                        mulHalves(b.y, high));
            }
        }
    }

    static DEVICE int firstFour(int r) { return 4 * r; }

    static DEVICE int otherFour(int r) { return 32 + 4 * r; }
};

// A warp's place in shared memory for 16 positions.
template <class Keys, class Values>
struct Tile {
    static constexpr int KEYS = 16 * Keys::ROW;
    static constexpr int VALUES = 16 * Values::ROW;
    static constexpr int BYTES = KEYS + VALUES;
};
