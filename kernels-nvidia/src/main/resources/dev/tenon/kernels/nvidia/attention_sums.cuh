// The softmax of the tensor cores' attention (attention_tensor.cuh): of a warp's positions, and of pieces.
#pragma once
#include "attention_rows.cuh"

// Transposes an 8 x 8 matrix of halves; lane 4r + j has (r, 2j) and (r, 2j + 1).
DEVICE u32 transposed(u32 pair) {
    u32 r;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(pair));
    return r;
}

// to[i] += products of 16 positions: a lane has eight elements of four of them, two of each in to[i], and their weights
DEVICE void addProducts(float (*to)[4], uint4 v0, uint4 v1, uint4 v8, uint4 v9, const u32 (&b)[2]) {
    auto two = [&](int i, u32 w0, u32 w1, u32 w8, u32 w9) {
        const u32 a[4] = {lowHalves(w0, w1), highHalves(w0, w1), lowHalves(w8, w9), highHalves(w8, w9)};
        multiply(to[i], a, b[0], b[1]);
    };
    two(0, v0.x, v1.x, v8.x, v9.x);
    two(1, v0.y, v1.y, v8.y, v9.y);
    two(2, v0.z, v1.z, v8.z, v9.z);
    two(3, v0.w, v1.w, v8.w, v9.w);
}

// How much the scores may grow before the sums are scaled anew; 2^LATE is a good half.
constexpr float LATE = 8.f;

// The softmax so far of a warp: of heads 2j and 2j + 1, in lane 4r + j.
template <int D>
struct WarpSums {
    float maximum[2]; // of the scores, times log2(e), or up to LATE less
    float weight[2];  // of the lane's own positions
    float sum[D / 16][4];

    DEVICE WarpSums() : maximum{NOTHING, NOTHING}, weight{}, sum{} {}

    // s: scores of positions r (0, 1) and r + 8 (2, 3), times log2(e); b: what their sums are made with
    DEVICE void weigh(const float (&s)[4], bool valid, bool valid8, u32 (&b)[2]) {
        float m0 = fmaxf(valid ? s[0] : NOTHING, valid8 ? s[2] : NOTHING);
        float m1 = fmaxf(valid ? s[1] : NOTHING, valid8 ? s[3] : NOTHING);
        if (__any_sync(FULL_WARP, m0 > maximum[0] + LATE || m1 > maximum[1] + LATE)) { // seldom, after the first
#pragma unroll
            for (int o = 4; o < 32; o <<= 1) {
                m0 = fmaxf(m0, __shfl_xor_sync(FULL_WARP, m0, o));
                m1 = fmaxf(m1, __shfl_xor_sync(FULL_WARP, m1, o));
            }
            m0 = fmaxf(m0, maximum[0]);
            m1 = fmaxf(m1, maximum[1]);
            const float f0 = powerOfTwo(maximum[0] - m0);
            const float f1 = powerOfTwo(maximum[1] - m1);
            maximum[0] = m0, maximum[1] = m1;
            weight[0] *= f0, weight[1] *= f1;
#pragma unroll
            for (int i = 0; i < D / 16; i++) {
                sum[i][0] *= f0, sum[i][1] *= f1, sum[i][2] *= f0, sum[i][3] *= f1;
            }
        }
        const float p0 = valid ? powerOfTwo(s[0] - maximum[0]) : 0.f;
        const float p1 = valid ? powerOfTwo(s[1] - maximum[1]) : 0.f;
        const float p2 = valid8 ? powerOfTwo(s[2] - maximum[0]) : 0.f;
        const float p3 = valid8 ? powerOfTwo(s[3] - maximum[1]) : 0.f;
        weight[0] += p0 + p2;
        weight[1] += p1 + p3;
        b[0] = transposed(halves(p0, p1));
        b[1] = transposed(halves(p2, p3));
    }

    DEVICE void add(const uint4 (&v)[4][D / 64], const u32 (&b)[2]) {
#pragma unroll
        for (int h = 0; h < D / 64; h++) {
            addProducts(&sum[4 * h], v[0][h], v[1][h], v[2][h], v[3][h], b);
        }
    }
};

// What the blocks of a long sequence leave of a head for the one that is done last with it, which joins 16 pieces at a
// time on tensor cores, as 16 positions are:
//
//   partial   | f16 sums [T][heads][splits][D], divided by their weights | (maximum, weight) [T][heads][splits] |
template <int D>
struct Left {
    u16* sums;
    float2* stats;
    int splits;
    int heads;

    DEVICE Left(float* partial, int heads) : splits(gridDim.x), heads(heads) {
        sums = (u16*) partial;
        stats = (float2*) (sums + (i64) gridDim.z * heads * splits * D);
    }

    DEVICE i64 place(int t, int head, int piece) const { return ((i64) t * heads + head) * splits + piece; }

    // 64 elements of a head, from `first` on, by a warp: lane 4r + j gets 8r + 2j and the next
    DEVICE float2 join(int t, int head, int first, int pieces, int lane) const {
        const int r = lane / 4;
        const int j = lane % 4;
        float maximum = NOTHING;
        float weight = 0.f;
        float sum[4][4] = {};
#pragma unroll 1
        for (int from = 0; from < pieces; from += 16) {
            const int ahead = pieces - from;
            uint4 v[4]; // elements 8r .. 8r + 7 of the pieces 4j .. 4j + 3
#pragma unroll
            for (int n = 0; n < 4; n++) {
                v[n] = make_uint4(0, 0, 0, 0);
                if (4 * j + n < ahead) {
                    v[n] = *(const uint4*) (sums + place(t, head, from + 4 * j + n) * D + first + 8 * r);
                }
            }
            float2 own = make_float2(NOTHING, 0.f);
            if (lane % 16 < ahead) {
                own = stats[place(t, head, from + lane % 16)];
            }
            const float larger = fmaxf(maximum, maxOver(own.x, 16));
            const float factor = powerOfTwo(maximum - larger); // of what there is so far
            const float share = powerOfTwo(own.x - larger) * own.y;
            const float all = weight * factor + sumOver(share, 16);
            const float inverse = reciprocal(all); // so that shares are at most 1
            float s[4];
#pragma unroll
            for (int n = 0; n < 4; n++) {
                s[n] = __shfl_sync(FULL_WARP, share * inverse, 4 * j + n);
            }
            const u32 b[2] = {halves(s[0], s[1]), halves(s[2], s[3])}; // the same in all eight columns
            const float old = weight * factor * inverse;
            maximum = larger;
            weight = all;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[i][0] *= old;
                sum[i][2] *= old;
            }
            addProducts(&sum[0], v[0], v[1], v[2], v[3], b);
        }
        float2 result = make_float2(sum[0][0], sum[0][2]);
#pragma unroll
        for (int i = 1; i < 4; i++) {
            result = j == i ? make_float2(sum[i][0], sum[i][2]) : result;
        }
        return result;
    }
};
