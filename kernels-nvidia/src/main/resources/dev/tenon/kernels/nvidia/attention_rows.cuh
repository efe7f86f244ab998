// Keys and values as the tensor cores' attention reads them (attention_tensor.cuh): rows of the cache, 16 positions at
// a time, by element type.
#pragma once
#include "attention_part.cuh"
#include "tensor_core.cuh"

// low halves of a and b, high halves of a and b
DEVICE u32 lowHalves(u32 a, u32 b) { return __byte_perm(a, b, 0x5410); }

DEVICE u32 highHalves(u32 a, u32 b) { return __byte_perm(a, b, 0x7632); }

// 16 keys or values of an element type, in shared memory as in the cache, but for a gap behind each four values.
//
//   keys, values         what a lane has of them, as halves
//   SCALED               whether scores of 32 elements have to be multiplied with scales that `keys` gives
//   keyAt, valueAt       where the halves of a row that is not in the cache yet stand, so that a lane reads 16 bytes
//   firstFour, otherFour where, in each 64 elements of a sum, a lane's stand
template <class Kv, int D>
struct Rows;

template <int D>
struct Rows<KvF16, D> {
    static constexpr int ROW = 2 * D;
    static constexpr int VALUE_GAP = 32; // so that the lanes of a read meet no bank twice
    static constexpr bool SCALED = false;

    static DEVICE int keyAt(int e) { return e; }

    static DEVICE int valueAt(int e) { return e; }

    // elements 32c + 8j .. + 7 of positions own and own + 2
    static DEVICE void keys(u32 from, int own, int j, uint4 (&k)[2][D / 32], float (&)[2][D / 32]) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int c = 0; c < D / 32; c++) {
                k[n][c] = readShared16(from + (own + 2 * n) * ROW + 64 * c + 16 * j);
            }
        }
    }

    // elements 64h + 8r .. + 7 of positions 4j .. 4j + 3
    static DEVICE void values(u32 from, int r, int j, uint4 (&v)[4][D / 64]) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
            for (int h = 0; h < D / 64; h++) {
                v[n][h] = readShared16(from + j * (4 * ROW + VALUE_GAP) + n * ROW + 128 * h + 16 * r);
            }
        }
    }

    static DEVICE int firstFour(int r) { return 8 * r; }

    static DEVICE int otherFour(int r) { return 8 * r + 4; }
};

template <int D>
struct Rows<KvQ8_0, D> {
    static constexpr int ROW = D + D / 16;
    static constexpr int VALUE_GAP = 0;
    static constexpr bool SCALED = true;

    static DEVICE int keyAt(int e) { return (e & ~31) + 8 * (e >> 2 & 3) + 4 * (e >> 4 & 1) + (e & 3); }

    static DEVICE int valueAt(int e) { return (e & ~63) + 8 * (e >> 2 & 7) + 4 * (e >> 5 & 1) + (e & 3); }

    // four signed bytes as halves: 1024 + 128 + each, less 1152
    static DEVICE uint2 decoded(u32 word) {
        const u32 shifted = word ^ 0x80808080;
        return make_uint2(subHalves(__byte_perm(shifted, 0x64646464, 0x4140), 0x64806480),
                subHalves(__byte_perm(shifted, 0x64646464, 0x4342), 0x64806480));
    }

    // elements 32c + 4j .. + 3 and 32c + 16 + 4j .. + 3, and the scales of both positions
    static DEVICE void keys(u32 from, int own, int j, uint4 (&k)[2][D / 32], float (&scale)[2][D / 32]) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const u32 row = from + (own + 2 * n) * ROW;
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
            const u32 row = from + (4 * j + n) * ROW;
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
    static constexpr int FOUR = 4 * Values::ROW;
    static constexpr int APART = FOUR + Values::VALUE_GAP;
    static constexpr int BYTES = KEYS + 4 * APART;
};
