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

// The next number from 0 to all - 1 of a counter, which is 0 again when all have been drawn. The instruction, unlike an
// addition, is not replaced by one for all lanes, whose result would be waited for at once.
DEVICE u32 drawNumber(u32* counter, int all) {
    u32 number;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(number)
                 : "l"(counter), "r"(all - 1)
                 : "memory");
    return number;
}

// Words of memory that other blocks write meanwhile: each is 0 until it has arrived.
DEVICE uint4 readWords(const uint4* from) {
    uint4 v;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

DEVICE uint2 readWords(const uint2* from) {
    uint2 v;
    asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from) : "memory");
    return v;
}

// As Left, but the memory is all zeros between launches and every word says itself that it has arrived: there is no
// fence, and no counter to be read behind it. The block that joins reads until no word is 0, and makes them 0 again. A
// half pair or float of 0 is written as one with the sign of -0.
//
//   words     | f16 sums [T][heads][splits][D], divided by their weights | (maximum, weight) [T][heads][splits][D/64] |
template <int D>
struct Words {
    static constexpr int PARTS = D / 64; // of a head, each with maximum and weight of its own

    u32* sums;
    uint2* stats;
    int splits;
    int heads;

    DEVICE Words(float* partial, int heads) : splits(gridDim.x), heads(heads) {
        sums = (u32*) partial;
        stats = (uint2*) (sums + (i64) gridDim.z * heads * splits * (D / 2));
    }

    DEVICE i64 place(int t, int head, int piece) const { return ((i64) t * heads + head) * splits + piece; }

    static DEVICE u32 word(u32 bits) { return bits == 0 ? 0x80000000 : bits; }

    // 64 elements of a head, from `first` on, by a warp: a lane has two side by side
    DEVICE void leave(int t, int head, int first, int piece, u32 pair, float maximum, float weight, int lane) const {
        const i64 at = place(t, head, piece);
        u32* to = sums + at * (D / 2) + first / 2 + lane;
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word(pair)) : "memory");
        if (lane == 0) {
            asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(stats + at * PARTS + first / 64),
                         "r"(word(__float_as_uint(maximum))), "r"(word(__float_as_uint(weight)))
                         : "memory");
        }
    }

    // The same elements of all pieces joined; those of piece `piece` are `own`, with their maximum and weight. Pieces
    // are joined 16 at a time on tensor cores, as 16 positions are: lane 4r + j gets 8r + 2j and the next.
    DEVICE float2 join(int t, int head, int first, int piece, int pieces, float2 own, float maximum, float weight,
            int lane) const {
        const int r = lane / 4;
        const int j = lane % 4;
        float sum[4][4] = {};
#pragma unroll 1
        for (int from = 0; from < pieces; from += 16) {
            uint4* at[4]; // elements 8r .. 8r + 7 of the pieces 4j .. 4j + 3
            uint4 v[4];
            u32 missing = 0;
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const int p = from + 4 * j + n;
                at[n] = (uint4*) (sums + place(t, head, p) * (D / 2) + first / 2 + 4 * r);
                v[n] = make_uint4(0, 0, 0, 0);
                missing |= p < pieces && p != piece ? 1u << n : 0u;
            }
            const int p = from + lane % 16;
            uint2* stat = stats + place(t, head, p) * PARTS + first / 64;
            uint2 of = make_uint2(__float_as_uint(NOTHING), 0);
            const bool there = p < pieces && p != piece;
            missing |= there ? 16u : 0u;
            const u32 read = missing;
            while (__any_sync(FULL_WARP, missing != 0)) {
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    if (missing >> n & 1) {
                        v[n] = readWords(at[n]);
                    }
                }
                if (missing & 16) {
                    of = readWords(stat);
                }
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    const bool all = v[n].x != 0 && v[n].y != 0 && v[n].z != 0 && v[n].w != 0;
                    missing &= all ? ~(1u << n) : ~0u;
                }
                missing &= of.x != 0 && of.y != 0 ? ~16u : ~0u;
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
                if (read >> n & 1) {
                    *at[n] = make_uint4(0, 0, 0, 0);
                }
            }
            if (there && lane < 16) {
                *stat = make_uint2(0, 0);
            }
            const float top = __uint_as_float(of.x);
            const float larger = fmaxf(maximum, maxOver(top, 16));
            const float factor = powerOfTwo(maximum - larger); // of what there is so far
            const float share = there ? powerOfTwo(top - larger) * __uint_as_float(of.y) : 0.f;
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
            own.x *= old;
            own.y *= old;
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
        return make_float2(own.x + result.x, own.y + result.y);
    }
};
