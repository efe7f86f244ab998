// Attention of a few rows over keys and values in halves, on tensor cores: a block of eight warps takes one kv head, up
// to four of its query heads, one row of the step, and one piece of the sequence. Warps take 16 positions at a time:
//
//   scores   s[16 positions][8 heads] = K[16][D] q[D][8]         (heads behind the block's are zeros)
//   sums     o[D][8 heads] += V^T[D][16] p[16][8], p = 2^(s - maximum)
//
// Lane 4r + j of a product of 16 x 8 has rows r and r + 8, columns 2j and 2j + 1. Rows and columns may be numbered at
// will, and are numbered so that a lane reads 16 bytes at a time, straight from the cache into its registers:
//
//   K   a lane has elements 32c + 8j .. + 7 (c = 0 .. D/32 - 1) of positions r and r + 8
//   V   a lane has elements 64h + 8r .. + 7 (h = 0 .. D/64 - 1) of positions 2j, 2j + 1, 2j + 8, 2j + 9
//
// The rows of this step that are not in the cache yet make up 16 positions more, read from shared memory.
#pragma once
#include "attention_part.cuh"
#include "tensor_core.cuh"

// Transposes an 8 x 8 matrix of halves; lane 4r + j has (r, 2j) and (r, 2j + 1).
DEVICE u32 transposed(u32 pair) {
    u32 r;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(pair));
    return r;
}

// low halves of a and b, high halves of a and b
DEVICE u32 lowHalves(u32 a, u32 b) { return __byte_perm(a, b, 0x5410); }

DEVICE u32 highHalves(u32 a, u32 b) { return __byte_perm(a, b, 0x7632); }

constexpr int TENSOR_THREADS = 256;

// Positions that one block does alone, and the least that are worth a block where there are more: to join pieces takes
// as long as one or two hundred positions, however many pieces there are.
template <int D>
constexpr int WHOLE = D == 64 ? 256 : 192;
constexpr int PIECE = 64;

// 16 positions, as a lane has them.
template <int D>
struct Tile {
    uint4 k[2][D / 32];
    uint4 v[4][D / 64];
};

// The softmax so far of a warp: of heads 2j and 2j + 1, in lane 4r + j.
template <int D>
struct WarpSums {
    float maximum[2]; // of the scores, times log2(e)
    float weight[2];  // of the lane's own positions
    float sum[D / 16][4];

    DEVICE WarpSums() : maximum{NOTHING, NOTHING}, weight{}, sum{} {}

    // s: scores of positions r (0, 1) and r + 8 (2, 3), times log2(e); b: what their sums are made with
    DEVICE void weigh(const float (&s)[4], bool valid, bool valid8, u32 (&b)[2]) {
        float m0 = fmaxf(valid ? s[0] : NOTHING, valid8 ? s[2] : NOTHING);
        float m1 = fmaxf(valid ? s[1] : NOTHING, valid8 ? s[3] : NOTHING);
        if (__any_sync(FULL_WARP, m0 > maximum[0] || m1 > maximum[1])) { // seldom, after the first positions
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
            auto four = [&](int i, u32 v0, u32 v1, u32 v8, u32 v9) {
                const u32 a[4] = {lowHalves(v0, v1), highHalves(v0, v1), lowHalves(v8, v9), highHalves(v8, v9)};
                multiply(sum[4 * h + i], a, b[0], b[1]);
            };
            four(0, v[0][h].x, v[1][h].x, v[2][h].x, v[3][h].x);
            four(1, v[0][h].y, v[1][h].y, v[2][h].y, v[3][h].y);
            four(2, v[0][h].z, v[1][h].z, v[2][h].z, v[3][h].z);
            four(3, v[0][h].w, v[1][h].w, v[2][h].w, v[3][h].w);
        }
    }
};

// tanh with an absolute error of 1e-7
DEVICE float quickTanh(float x) {
    return 1.f - __fdividef(2.f, powerOfTwo(2.f * LOG2_E * x) + 1.f);
}

DEVICE void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// A head of token t from `from` to registers, normed and rotated, by a warp: elements lane, lane + 32, ... `scratch` is
// the warp's. Short rather than clever: a kernel that runs once for a microsecond fetches all its instructions anew.
template <int D>
static DEVICE void prepare(const HeadInput& in, const float* norm, const float* table, int t, const float* from,
        float (&x)[D / 32], float* scratch, int lane) {
    constexpr int E = D / 32;
    const int half = in.ropeDim / 2;
    float weight[E];
    float2 angle[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
        x[e] = from[lane + 32 * e];
    }
    if (table != nullptr) {
        const float2* angles = (const float2*) table + (i64) t * half;
#pragma unroll
        for (int e = 0; e < E; e++) {
            const int i = lane + 32 * e;
            angle[e] = angles[min(in.pairing == 0 ? i >> 1 : i < half ? i : i - half, half - 1)];
        }
    }
    if (norm != nullptr) {
        float squares = 0.f;
#pragma unroll
        for (int e = 0; e < E; e++) {
            weight[e] = norm[lane + 32 * e];
        }
#pragma unroll
        for (int e = 0; e < E; e++) {
            squares += x[e] * x[e];
        }
        const float factor = rsqrtf(sumOver(squares, 32) / D + in.eps);
#pragma unroll
        for (int e = 0; e < E; e++) {
            x[e] *= factor * weight[e];
        }
    }
    if (table != nullptr) {
        __syncwarp();
#pragma unroll
        for (int e = 0; e < E; e++) {
            scratch[lane + 32 * e] = x[e];
        }
        __syncwarp();
#pragma unroll
        for (int e = 0; e < E; e++) {
            const int i = lane + 32 * e;
            const bool first = in.pairing == 0 ? (i & 1) == 0 : i < half; // of the pair
            const float other = scratch[in.pairing == 0 ? i ^ 1 : first ? i + half : i - half];
            const float rotated = x[e] * angle[e].x + other * (first ? -angle[e].y : angle[e].y);
            x[e] = i < in.ropeDim ? rotated : x[e];
        }
    }
}

template <int D>
static DEVICE void attentionTensor(const float* q, const float* k, const float* v, const HeadInput& query,
        const HeadInput& key, const KvCache& cache, const int* positions, const int* sequences, float* out,
        float* partial, int* counters, const Shape& shape) {
    constexpr int WARPS = TENSOR_THREADS / 32;
    constexpr int ROW = 2 * D; // bytes of a key or value
    constexpr int E = D / 32;
    __shared__ alignas(16) u16 queries[8][D + 32]; // so that the lanes of a read meet no bank twice
    __shared__ alignas(16) u16 fresh[2][MAX_ROWS][D];
    __shared__ alignas(16) float sums[WARPS][GROUP][D];
    __shared__ float maxima[WARPS][GROUP];
    __shared__ float weights[WARPS][GROUP];
    launchDependents();

    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int r = lane / 4;
    const int j = lane % 4;
    const bool fused = k != nullptr;
    const Part part = Part::of<false>(positions, sequences, shape, cache.heads, fused, WHOLE<D>, PIECE);
    const int t = part.t;
    out += ((i64) t * shape.heads + part.chunkHead) * D;
    if (part.sequence < 0) {
        waitForInputs();
#pragma unroll 1
        for (int i = threadIdx.x; part.block == 0 && i < part.chunk * D; i += TENSOR_THREADS) {
            out[i] = 0.f;
        }
        return;
    }
    if (part.block >= part.blocks) {
        return; // the first block waits for the kernels in front
    }

    // tile i: positions base + 16i .. base + 16i + 15; those in front of part.from and behind part.end do not count
    const int base = part.from & ~15;
    const int tiles = part.from < part.end ? (u32) (part.end - base + 15) / 16 : 0;
    const int all = tiles + (part.fresh > 0 ? 1 : 0);
    const int* pages = cache.pages + (i64) part.sequence * cache.maxPages;
    auto headInPage = [&](int p) { // of a position
        return ((i64) pages[(u32) p / PAGE_TOKENS] * cache.heads + part.kvHead) * (PAGE_TOKENS * ROW);
    };
    Tile<D> tile;
    auto row = [&](int i, int offset) { // where it begins among those of its head and page
        return ((u32) min(max(base + 16 * i + offset, part.from), part.end - 1) % PAGE_TOKENS) * ROW;
    };
    auto loadKeys = [&](int i, i64 head) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const u8* from = cache.keys + head + row(i, r + 8 * n) + 16 * j;
#pragma unroll
            for (int c = 0; c < D / 32; c++) {
                tile.k[n][c] = *(const uint4*) (from + 64 * c);
            }
        }
    };
    auto loadValues = [&](int i, i64 head) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const u8* from = cache.values + head + row(i, 2 * j + n % 2 + n / 2 * 8) + 16 * r;
#pragma unroll
            for (int h = 0; h < D / 64; h++) {
                tile.v[n][h] = *(const uint4*) (from + 128 * h);
            }
        }
    };
    if (!fused) {
        waitForInputs();
    }
    if (warp < tiles) { // if fused, written in earlier steps
        const i64 head = headInPage(base + 16 * warp);
        loadKeys(warp, head);
        loadValues(warp, head);
    }
    const int within = (u32) part.position % PAGE_TOKENS * ROW;
    const i64 appended = part.appends ? headInPage(part.position) + within : 0;
    if (part.group < 8) { // query heads that are not there
        u32* zeros = (u32*) queries[part.group];
#pragma unroll 1
        for (int i = threadIdx.x; i < (8 - part.group) * (D / 2 + 16); i += TENSOR_THREADS) {
            zeros[i] = 0;
        }
    }
    if (fused) {
        if (lane < D / 32 && query.norm != nullptr) {
            prefetch(query.norm + 32 * lane);
        }
        if (lane < D / 32 && key.norm != nullptr) {
            prefetch(key.norm + 32 * lane);
        }
        waitForInputs();
    }

    // one warp a head: queries, and keys and values of this step's rows
    const int jobs = part.group + 2 * part.fresh;
#pragma unroll 1
    for (int job = warp; job < jobs; job += WARPS) {
        const bool isQuery = job < part.group;
        const int back = isQuery ? 0 : (job - part.group) / 2; // rows back from this one
        const bool isValue = !isQuery && (job - part.group) % 2 != 0;
        const int head = isQuery ? t * shape.heads + part.head + job : (t - back) * cache.heads + part.kvHead;
        float x[E];
        prepare<D>(key, isQuery ? query.norm : isValue ? nullptr : key.norm,
                isQuery ? query.table : isValue ? nullptr : key.table, t - back,
                (isQuery ? q : isValue ? v : k) + (i64) head * D, x, sums[warp][0], lane);
        u16* to = isQuery ? queries[job] : fresh[isValue][back];
        const float factor = isQuery ? shape.scale : 1.f;
#pragma unroll
        for (int e = 0; e < E; e++) {
            to[lane + 32 * e] = floatToHalf(x[e] * factor);
        }
        if (!isQuery && back == 0 && part.appends) {
            u16* row = (u16*) ((isValue ? cache.values : cache.keys) + appended);
#pragma unroll
            for (int e = 0; e < E; e++) {
                row[lane + 32 * e] = floatToHalf(x[e]);
            }
        }
    }
    __syncthreads();

    WarpSums<D> run;
    const u32 queryAddress = sharedAddress(&queries[r][8 * j]);
#pragma unroll 1
    for (int i = warp; i < all; i += WARPS) {
        const u32 offset = base + 16 * i + r - part.from;
        bool valid = offset < (u32) (part.end - part.from);
        bool valid8 = offset + 8 < (u32) (part.end - part.from);
        if (i == tiles) { // the rows of this step, backwards
            valid = r < part.fresh && part.position - r >= part.low;
            valid8 = false;
#pragma unroll
            for (int c = 0; c < D / 32; c++) {
                tile.k[0][c] = *(const uint4*) &fresh[0][r][32 * c + 8 * j];
                tile.k[1][c] = tile.k[0][c];
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const bool there = n < 2 && 2 * j + n < part.fresh;
#pragma unroll
                for (int h = 0; h < D / 64; h++) {
                    const uint4 value = *(const uint4*) &fresh[1][2 * j + n % 2][64 * h + 8 * r];
                    tile.v[n][h] = make_uint4(there ? value.x : 0, there ? value.y : 0, there ? value.z : 0,
                            there ? value.w : 0);
                }
            }
        }
        const bool more = i + WARPS < tiles;
        const i64 head = more ? headInPage(base + 16 * (i + WARPS)) : 0;
        float scores[2][4] = {};
#pragma unroll
        for (int c = 0; c < D / 32; c++) {
            const uint4 b = readShared16(queryAddress + 64 * c);
            const uint4 top = tile.k[0][c];
            const uint4 low = tile.k[1][c];
            const u32 a0[4] = {top.x, low.x, top.y, low.y};
            const u32 a1[4] = {top.z, low.z, top.w, low.w};
            multiply(scores[0], a0, b.x, b.y);
            multiply(scores[1], a1, b.z, b.w);
        }
        if (more) {
            loadKeys(i + WARPS, head);
        }
        float s[4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            s[n] = scores[0][n] + scores[1][n];
        }
        if (shape.softCap > 0.f) {
#pragma unroll
            for (int n = 0; n < 4; n++) {
                s[n] = shape.softCap * quickTanh(__fdividef(s[n], shape.softCap));
            }
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            s[n] *= LOG2_E;
        }
        u32 p[2];
        run.weigh(s, valid, valid8, p);
        run.add(tile.v, p);
        if (more) {
            loadValues(i + WARPS, head);
        }
    }

    // join the lanes' weights, then the warps
#pragma unroll
    for (int o = 4; o < 32; o <<= 1) {
        run.weight[0] += __shfl_xor_sync(FULL_WARP, run.weight[0], o);
        run.weight[1] += __shfl_xor_sync(FULL_WARP, run.weight[1], o);
    }
    if (2 * j < GROUP) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int h = 0; h < D / 64; h++) {
                float4* to = (float4*) &sums[warp][2 * j + n][64 * h + 8 * r];
                const auto& of = run.sum;
                to[0] = make_float4(of[4 * h][n], of[4 * h][2 + n], of[4 * h + 1][n], of[4 * h + 1][2 + n]);
                to[1] = make_float4(of[4 * h + 2][n], of[4 * h + 2][2 + n], of[4 * h + 3][n], of[4 * h + 3][2 + n]);
            }
            if (r == 0) {
                maxima[warp][2 * j + n] = run.maximum[n];
                weights[warp][2 * j + n] = run.weight[n];
            }
        }
    }
    __syncthreads();
    const Pieces pieces(partial, shape);
    const i64 place = pieces.place(t, shape.heads, part.chunkHead);
#pragma unroll 1
    for (int i = threadIdx.x; i < part.group * D; i += TENSOR_THREADS) {
        const int g = i / D;
        const int e = i % D;
        float maximum = NOTHING;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            maximum = fmaxf(maximum, maxima[w][g]);
        }
        float weight = 0.f;
        float sum = 0.f;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const float factor = powerOfTwo(maxima[w][g] - maximum);
            weight += factor * weights[w][g];
            sum += factor * sums[w][g][e];
        }
        if (part.pieces == 1) {
            out[i] = __fdividef(sum, weight);
        } else {
            const i64 at = place + (i64) g * gridDim.x + part.piece;
            pieces.sums[at * D + e] = sum;
            if (e == 0) {
                pieces.stats[2 * at] = maximum;
                pieces.stats[2 * at + 1] = weight;
            }
        }
    }
    if (part.pieces > 1 && isLastBlock(part, counters + t * gridDim.y + part.y)) {
        joinPieces<4>(part, pieces, place, out, &sums[0][0][0]);
    }
}
