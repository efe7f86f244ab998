// Attention of a few rows over keys and values in halves or Q8_0, on tensor cores: a block of eight or twelve warps
// takes one kv head, up to four of its query heads, one row of the step, and one piece of the sequence. Warps take 16
// positions at a time:
//
//   scores   s[16 positions][8 heads] = K[16][D] q[D][8]         (heads behind the block's are zeros)
//   sums     o[D][8 heads] += V^T[D][16] p[16][8], p = 2^(s - maximum)
//
// Lane 4r + j of a product of 16 x 8 has rows r and r + 8, columns 2j and 2j + 1. Rows and columns may be numbered at
// will, and are numbered so that a lane reads its elements side by side, from shared memory:
//
//   K, halves   a lane has elements 64h + 16j .. + 15 (h = 0 .. D/64 - 1) of two positions
//   K, Q8_0     32c + 4j .. + 3 and 32c + 16 + 4j .. + 3 (c = 0 .. D/32 - 1), as halves without their scales
//   V, halves   64h + 8r .. + 7 of four positions
//   V, Q8_0     64h + 4r .. + 3 and 64h + 32 + 4r .. + 3, times their scales
//
// A warp has up to twice 16 positions under way, asked for before the kernels in front have finished. The rows of this
// step that are not in the cache yet make up 16 positions more, in halves.
#pragma once
#include "attention_sums.cuh"
#include "bulk_copy.cuh"

// Aligned, since bulk copies to the middle of a line of 128 bytes take longer.
alignas(128) extern __shared__ uint4 sharedMemory[];

// There are two kernels: one for steps whose sequences one block can do, or nearly so, and DEEP for longer ones, which
// pays for each of its pieces less. AttentionLaunches says from which position on it is launched.
//
// Threads of a block: eight warps, or twelve of 80 registers, which is what a quarter of a multiprocessor has room for
// beside a block of a product.
template <int D, bool DEEP>
constexpr int TENSOR_THREADS = DEEP && D == 64 ? 384 : 256;

// Times 16 positions that a block asks for before the kernels in front have finished: those wait for more of them.
template <bool DEEP>
constexpr int EARLY = DEEP ? 16 : 1 << 30;

// Positions that one block does alone, and the least that are worth a block where there are more: to join pieces takes
// as long as one or two hundred positions.
template <int D, bool DEEP>
constexpr int WHOLE = DEEP ? (D == 64 ? 320 : 128) : D == 64 ? 384 : 192;
template <int D, bool DEEP>
constexpr int PIECE = DEEP ? (D == 64 ? 192 : 128) : D == 64 ? 256 : 128;

constexpr int MAX_STAGES = 2; // places of a warp for positions

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

template <class KeyType, class ValueType, int D, bool DEEP>
static DEVICE void attentionTensor(const float* q, const float* k, const float* v, const HeadInput& query,
        const HeadInput& key, const KvCache& cache, const int* positions, const int* sequences, float* out,
        float* partial, int* counters, const Shape& shape) {
    typedef Rows<KeyType, D> Keys;
    typedef Rows<ValueType, D> Values;
    typedef Tile<Keys, Values> T;
    constexpr int THREADS = TENSOR_THREADS<D, DEEP>;
    constexpr int WARPS = THREADS / 32;
    constexpr int E = D / 32;
    __shared__ alignas(16) u16 queries[8][D + 8]; // so that the lanes of a read meet no bank twice
    __shared__ alignas(16) u16 fresh[2][MAX_ROWS][D];
    __shared__ float scratch[WARPS][D];
    __shared__ float maxima[WARPS][GROUP];
    __shared__ float weights[WARPS][GROUP];
    __shared__ u64 barriers[WARPS][MAX_STAGES]; // of each place of a warp
    __shared__ u32 number;                      // DEEP: how many blocks of the y have drawn theirs before this one
    launchDependents();

    const int warp = __shfl_sync(FULL_WARP, threadIdx.x / 32, 0); // so that the compiler knows: one for all lanes
    const int lane = threadIdx.x % 32;
    const int r = lane / 4;
    const int j = lane % 4;
    const bool fused = k != nullptr;
    const Part part =
            Part::of<false>(positions, sequences, shape, cache.heads, fused, WHOLE<D, DEEP>, PIECE<D, DEEP>);
    const int t = part.t;
    out += ((i64) t * shape.heads + part.chunkHead) * D;
    if (part.sequence < 0) {
        waitForInputs();
#pragma unroll 1
        for (int i = threadIdx.x; part.block == 0 && i < part.chunk * D; i += THREADS) {
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
    auto rowOf = [&](int page, int p) { // of a position, counted through the cache
        return ((i64) page * cache.heads + part.kvHead) * PAGE_TOKENS + (u32) p % PAGE_TOKENS;
    };
    // the pages of the warp's next 32 tiles, one a lane: read when they are needed, each would take longer than a tile
    int ahead = 0;
    auto lookAhead = [&](int i) {
        const int p = base + 16 * (i + WARPS * lane);
        ahead = p < part.end ? pages[(u32) p / PAGE_TOKENS] : 0;
    };
    lookAhead(warp);
    const int stages = min(MAX_STAGES, (int) dynamicSharedBytes() / (WARPS * T::BYTES));
    const u32 places = sharedAddress(sharedMemory) + warp * T::BYTES;
    auto place = [&](int stage) { return places + stage * (WARPS * T::BYTES); };
    auto request = [&](int i, int stage) { // of tile i
        if (i < tiles) {
            const int turn = i / WARPS;
            if (turn > 0 && turn % 32 == 0) {
                lookAhead(i);
            }
            const int page = __shfl_sync(FULL_WARP, __shfl_sync(FULL_WARP, ahead, turn % 32), 0); // one, as `warp`
            const i64 row = rowOf(page, base + 16 * i);
            const u8* keys = cache.keys + row * Keys::ROW;
            const u8* values = cache.values + row * Values::ROW;
            const u32 to = place(stage);
#if TENON_BULK
            const Mailbox mail(&barriers[warp][stage]);
            if (chosenLane()) { // two copies: each takes some time to begin
                mail.expect(T::BYTES);
                mail.copy(to, keys, T::KEYS);
                mail.copy(to + T::KEYS, values, T::VALUES);
            }
#else
            for (int b = 16 * lane; b < T::KEYS; b += 512) {
                copy16(to + b, keys + b, true);
            }
            for (int b = 16 * lane; b < T::VALUES; b += 512) {
                copy16(to + T::KEYS + b, values + b, true);
            }
#endif
        }
#if !TENON_BULK
        copiesEnd();
#endif
    };
    auto await = [&](int stage, u32 phase) {
#if TENON_BULK
        Mailbox(&barriers[warp][stage]).wait(phase);
#else
        if (stages == 1) {
            copiesWait<0>();
        } else {
            copiesWait<1>();
        }
        __syncwarp();
#endif
    };
    if (lane < MAX_STAGES) {
        Mailbox(&barriers[warp][lane]).init();
    }
    __syncwarp();
    if (!fused) {
        waitForInputs();
    }
#pragma unroll 1
    for (int stage = 0; stage < stages; stage++) { // if fused, written in earlier steps
        if (DEEP && fused && warp + stage * WARPS >= EARLY<DEEP>) {
            waitForInputs();
        }
        request(warp + stage * WARPS, stage);
    }
    const i64 appended = part.appends ? rowOf(pages[(u32) part.position / PAGE_TOKENS], part.position) : 0;
    const int token = (u32) part.position % PAGE_TOKENS;
    if (part.group < 8) { // query heads that are not there
        u32* zeros = (u32*) queries[part.group];
#pragma unroll 1
        for (int i = threadIdx.x; i < (8 - part.group) * (D / 2 + 4); i += THREADS) {
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
                (isQuery ? q : isValue ? v : k) + (i64) head * D, x, scratch[warp], lane);
        u16* to = isQuery ? queries[job] : fresh[isValue][back];
        const float factor = isQuery ? shape.scaleAt(part.position) : 1.f;
#pragma unroll
        for (int e = 0; e < E; e++) {
            const int i = lane + 32 * e;
            to[isValue ? Values::valueAt(i) : Keys::keyAt(i)] = floatToHalf(x[e] * factor);
        }
        if (!isQuery && back == 0 && part.appends) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                if (isValue) {
                    ValueType::put(KvRow(cache.values + appended * Values::ROW, token), D, lane + 32 * e, x[e]);
                } else {
                    KeyType::put(KvRow(cache.keys + appended * Keys::ROW, token), D, lane + 32 * e, x[e]);
                }
            }
        }
    }
    __syncthreads();
    // Behind this barrier all blocks that have a number have begun, so that the last of them may wait for the others.
    u32 drawn = 0;
    if (DEEP && part.pieces > 1 && threadIdx.x == THREADS - 32) {
        drawn = drawNumber((u32*) counters + t * gridDim.y + part.y, part.blocks);
    }

    WarpSums<D> run;
    const u32 queryAddress = sharedAddress(&queries[r][16 * j]);
    int stage = 0;
    u32 phase = 0;
    const int own[2] = {Values::position(r), Values::position(r + 8)}; // the lane's positions of the 16
#pragma unroll 1
    for (int i = warp; i < all; i += WARPS) {
        bool valid[2];
        uint4 k[2][D / 32];
        float scale[2][D / 32]; // of keys
        uint4 v[4][D / 64];
        int there; // of the 16 positions
        if (i < tiles) {
            await(stage, phase);
            Keys::keys(place(stage), own, j, k, scale);
            Values::values(place(stage) + T::KEYS, r, j, v);
            there = part.end - (base + 16 * i);
#pragma unroll
            for (int n = 0; n < 2; n++) {
                valid[n] = (u32) (base + 16 * i + own[n] - part.from) < (u32) (part.end - part.from);
            }
        } else { // the rows of this step, backwards
            there = part.fresh;
#pragma unroll
            for (int n = 0; n < 2; n++) {
                valid[n] = own[n] < part.fresh && part.position - own[n] >= part.low;
#pragma unroll
                for (int c = 0; c < D / 32; c++) {
                    k[n][c] = *(const uint4*) &fresh[0][own[n] % MAX_ROWS][c / 2 * 64 + 16 * j + c % 2 * 8];
                    scale[n][c] = 1.f;
                }
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
#pragma unroll
                for (int h = 0; h < D / 64; h++) {
                    const int row = Values::position(rowOfProduct(j, n)) % MAX_ROWS;
                    v[n][h] = *(const uint4*) &fresh[1][row][64 * h + 8 * r];
                }
            }
        }
        if (there < 16) { // others are anything, even no numbers
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const bool is = Values::position(rowOfProduct(j, n)) < there;
#pragma unroll
                for (int h = 0; h < D / 64; h++) {
                    const uint4 value = v[n][h];
                    v[n][h] = make_uint4(is ? value.x : 0, is ? value.y : 0, is ? value.z : 0, is ? value.w : 0);
                }
            }
        }
        if (i < tiles) { // as early as can be
            __syncwarp(); // all have read
            request(i + stages * WARPS, stage);
            stage++;
            if (stage == stages) {
                stage = 0;
                phase ^= 1;
            }
        }
        float s[4] = {};
        float scores[2][4] = {};
#pragma unroll
        for (int c = 0; c < D / 32; c++) {
            const uint4 b = readShared16(queryAddress + c / 2 * 128 + c % 2 * 16);
            const uint4 top = k[0][c];
            const uint4 low = k[1][c];
            const u32 a0[4] = {top.x, low.x, top.y, low.y};
            const u32 a1[4] = {top.z, low.z, top.w, low.w};
            multiply(scores[0], a0, b.x, b.y);
            multiply(scores[1], a1, b.z, b.w);
            if (Keys::SCALED || c == D / 32 - 1) {
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    const float sum = scores[0][n] + scores[1][n];
                    s[n] = Keys::SCALED ? s[n] + scale[n / 2][c] * sum : sum;
                    scores[0][n] = 0.f;
                    scores[1][n] = 0.f;
                }
            }
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
        run.weigh(s, valid[0], valid[1], p);
        run.add(v, p);
    }

    // join the lanes' weights, then the warps, whose sums take the place of their first positions
    static_assert(4 * GROUP * D <= T::BYTES);
    auto sumsOf = [&](int w, int g) { return (float*) ((u8*) sharedMemory + w * T::BYTES) + g * D; };
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
                float* to = sumsOf(warp, 2 * j + n) + 64 * h;
                const auto& of = run.sum;
                *(float4*) (to + Values::firstFour(r)) =
                        make_float4(of[4 * h][n], of[4 * h][2 + n], of[4 * h + 1][n], of[4 * h + 1][2 + n]);
                *(float4*) (to + Values::otherFour(r)) =
                        make_float4(of[4 * h + 2][n], of[4 * h + 2][2 + n], of[4 * h + 3][n], of[4 * h + 3][2 + n]);
            }
            if (r == 0) {
                maxima[warp][2 * j + n] = run.maximum[n];
                weights[warp][2 * j + n] = run.weight[n];
            }
        }
    }
    if (DEEP && threadIdx.x == THREADS - 32) {
        number = drawn;
    }
    __syncthreads();
    // a warp a head from here on, or where sequences are long one for each 64 elements of a head
    constexpr int ELEMENTS = DEEP ? 64 : D;
    const int g = DEEP ? warp / (D / 64) : warp;
    if (g >= part.group) {
        return;
    }
    const int first = DEEP ? warp % (D / 64) * 64 : 0;
    constexpr int OWN = ELEMENTS / 32;
    struct alignas(4 * OWN) Elements { // of a lane: lane * OWN and those behind it
        float v[OWN];
    };
    const float sink = shape.sink(part.head + g, part.piece);
    float maximum = sink;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        maximum = fmaxf(maximum, maxima[w][g]);
    }
    float weight = powerOfTwo(sink - maximum);
    Elements sum = {};
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        const float factor = powerOfTwo(maxima[w][g] - maximum);
        const Elements more = ((const Elements*) (sumsOf(w, g) + first))[lane];
        weight += factor * weights[w][g];
#pragma unroll
        for (int e = 0; e < OWN; e++) {
            sum.v[e] += factor * more.v[e];
        }
    }
    const float share = reciprocal(weight);
#pragma unroll
    for (int e = 0; e < OWN; e++) {
        sum.v[e] *= share;
    }
    out += g * D + first;
    if (part.pieces == 1) {
        ((Elements*) out)[lane] = sum;
        return;
    }
    const int head = part.chunkHead + g;
    if constexpr (DEEP) {
        const Words<D> words(partial, shape.heads);
        if (number == part.blocks - 1) {
            const float2 own = make_float2(sum.v[0], sum.v[1]);
            *(float2*) (out + 2 * lane) =
                    words.join(t, head, first, part.piece, part.pieces, own, maximum, weight, lane);
        } else {
            words.leave(t, head, first, part.piece, halves(sum.v[0], sum.v[1]), maximum, weight, lane);
        }
    } else {
        const Left<D> left(partial, shape.heads);
        const i64 at = left.place(t, head, part.piece);
        u32* pairs = (u32*) (left.sums + at * D) + lane * (OWN / 2);
#pragma unroll
        for (int e = 0; e < OWN; e += 2) {
            pairs[e / 2] = halves(sum.v[e], sum.v[e + 1]);
        }
        if (lane == 0) {
            left.stats[at] = make_float2(maximum, weight);
        }
        if (isLastWarp(counters + (t * gridDim.y + part.y) * GROUP + g, part.blocks)) {
#pragma unroll 1
            for (int from = 0; from < D; from += 64) {
                *(float2*) (out + from + 2 * lane) = left.join(t, head, from, part.pieces, lane);
            }
        }
    }
}
