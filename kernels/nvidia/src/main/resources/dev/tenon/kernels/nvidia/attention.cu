// Attention of a few rows over paged keys and values, with the sequence split over blocks (flash decoding).
//
// A block takes one kv head, up to four of the query heads that share it, one row of the step, and one piece of the
// sequence. Halves and Q8_0 with heads of 64 or 128 run on tensor cores (attention_tensor.cuh); this file has the rest,
// where blocks take fewer query heads each as long as a sequence has fewer pieces than there are blocks:
//
//   blocks of a y    short: | piece 0, head 0 | piece 0, head 1 | ... | piece 1, head 0 | ...   long: | piece 0 | ...
//
// In a block, a position belongs to D / 8 lanes, each with eight elements of the key, the value, and the queries:
//
//   warp      | position p, lanes 0 .. D/8 - 1 | position p + 1 | ...        D = 64: 4 positions a warp, D = 128: 2
//   lane      | elements 8i .. 8i + 7 | of q[4], k, v and of four running sums, each with its maximum and weight
//
// Running sums are joined first within a warp, then over warps, then, when a sequence is cut into several pieces, by
// the block that finishes last.
//
// Fused (k given): q, k, v are the raw projections of at most 8 rows. The last piece also does the rows of this step:
// it norms and rotates their keys itself and appends its own row to the cache, so that no block reads what another
// writes.
#include "attention_tensor.cuh"

// Head sizes beside the known ones: up to SHORT_HEAD, and longer, which are never fused.
constexpr int ANY = 0;
constexpr int LONG = -1;

// threads of a block, for a head size
template <int D>
constexpr int THREADS_OF = D <= 0 ? 128 : 256;

// elements of a head that a lane has
template <int D>
constexpr int OWN_OF = D == LONG ? MAX_HEAD / 32 : 8;

// How a position's elements are spread over lanes: eight neighbours each for a known D, every 32nd for any other.
template <class Kv, int D>
struct Slice {
    static constexpr int LANES = D / 8;
    typename Kv::Eight raw;

    DEVICE void load(const KvRow& row, int n, int lane) { raw = Kv::load8(row, n, 8 * lane); }

    DEVICE void decode(float (&to)[8]) const { Kv::decode8(raw, to); }

    static DEVICE int element(int lane, int j) { return 8 * lane + j; }
};

template <class Kv, int E>
struct Strided {
    static constexpr int LANES = 32;
    float values[E];

    DEVICE void load(const KvRow& row, int n, int lane) {
#pragma unroll
        for (int j = 0; j < E; j++) {
            values[j] = lane + 32 * j < n ? Kv::read(row, n, lane + 32 * j) : 0.f;
        }
    }

    DEVICE void decode(float (&to)[E]) const {
#pragma unroll
        for (int j = 0; j < E; j++) {
            to[j] = values[j];
        }
    }

    static DEVICE int element(int lane, int j) { return lane + 32 * j; }
};

template <class Kv>
struct Slice<Kv, ANY> : Strided<Kv, OWN_OF<ANY>> {};
template <class Kv>
struct Slice<Kv, LONG> : Strided<Kv, OWN_OF<LONG>> {};

// Positions that are worth a block: joining two pieces takes as long as a few hundred positions.
template <int D>
constexpr int MIN_PIECE = D == 64 ? 256 : D == 128 ? 128 : 64;

// Softmax so far of the query heads of a block, for the positions that a group of lanes has seen; a lane has E elements.
template <int E>
struct Running {
    float maximum[GROUP]; // of the scores, times log2(e)
    float weight[GROUP];  // sum of 2^(score - maximum)
    float sum[GROUP][E];  // of 2^(score - maximum) * value

    DEVICE void clear() {
#pragma unroll
        for (int g = 0; g < GROUP; g++) {
            maximum[g] = NOTHING;
            weight[g] = 0.f;
#pragma unroll
            for (int j = 0; j < E; j++) {
                sum[g][j] = 0.f;
            }
        }
    }

    DEVICE void rescale(int g, float newMaximum) {
        const float factor = powerOfTwo(maximum[g] - newMaximum);
        maximum[g] = newMaximum;
        weight[g] *= factor;
#pragma unroll
        for (int j = 0; j < E; j++) {
            sum[g][j] *= factor;
        }
    }

    // takes in what the lanes `distance` away have
    DEVICE void join(int g, int distance) {
        const float other = __shfl_xor_sync(FULL_WARP, maximum[g], distance);
        rescale(g, fmaxf(maximum[g], other));
        weight[g] += __shfl_xor_sync(FULL_WARP, weight[g], distance);
#pragma unroll
        for (int j = 0; j < E; j++) {
            sum[g][j] += __shfl_xor_sync(FULL_WARP, sum[g][j], distance);
        }
    }
};

// Takes `N` positions in: their keys and values, for the query heads head .. head + group - 1. valid[n] = false leaves
// one out. distance[n] is that of key and query.
template <int LANES, int E, int N>
static DEVICE void attend(Running<E>& run, const float (&q)[GROUP][E], int head, int group, const Shape& shape,
        const float (&k)[N][E], const float (&v)[N][E], const bool (&valid)[N], const int (&distance)[N]) {
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
        if (g >= group) {
            break;
        }
        float score[N];
        float maximum = run.maximum[g];
#pragma unroll
        for (int n = 0; n < N; n++) {
            float dot = 0.f;
#pragma unroll
            for (int j = 0; j < E; j++) {
                dot += q[g][j] * k[n][j];
            }
#pragma unroll
            for (int o = LANES / 2; o > 0; o >>= 1) {
                dot += __shfl_xor_sync(FULL_WARP, dot, o);
            }
            if (shape.softCap > 0.f) {
                dot = shape.softCap * tanhf(dot / shape.softCap);
            }
            if (shape.bias != nullptr) {
                dot += shape.biasAt(head + g, distance[n]);
            }
            score[n] = valid[n] ? dot * LOG2_E : NOTHING;
            maximum = fmaxf(maximum, score[n]);
        }
        if (maximum > run.maximum[g]) { // seldom, after the first positions
            run.rescale(g, maximum);
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            const float p = valid[n] ? powerOfTwo(score[n] - maximum) : 0.f;
            run.weight[g] += p;
#pragma unroll
            for (int j = 0; j < E; j++) {
                run.sum[g][j] += p * v[n][j];
            }
        }
    }
}

template <class Keys, class Values, int D>
static DEVICE void attention(const float* q, const float* k, const float* v, const HeadInput& query,
        const HeadInput& key, const KvCache& cache, const int* positions, const int* sequences, float* out,
        float* partial, int* counters, const Shape& shape) {
    typedef Slice<Keys, D> S;
    constexpr int THREADS = THREADS_OF<D>;
    constexpr int WARPS = THREADS / 32;
    constexpr int LANES = S::LANES;
    constexpr int GROUPS = THREADS / LANES;
    constexpr int AT_ONCE = D <= 0 ? 1 : 2; // positions that a group of lanes loads before it uses them
    constexpr int E = OWN_OF<D>;
    constexpr int ROW = D == LONG ? MAX_HEAD : D == ANY ? SHORT_HEAD : D;
    constexpr int FRESH_ROW = D == LONG ? 1 : ROW; // no room, and no need
    __shared__ float queries[GROUP][ROW];
    __shared__ float freshKeys[MAX_ROWS][FRESH_ROW];
    __shared__ float freshValues[MAX_ROWS][FRESH_ROW];
    __shared__ alignas(16) float sums[WARPS][GROUP][ROW];
    __shared__ float maxima[WARPS][GROUP];
    __shared__ float weights[WARPS][GROUP];
    launchDependents();

    const int keyLength = D <= 0 ? shape.keyLength : D;
    const int valueLength = D <= 0 ? shape.valueLength : D;
    const int keyBytes = Keys::rowBytes(keyLength);
    const int valueBytes = Values::rowBytes(valueLength);
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % LANES;
    const int lanesGroup = threadIdx.x / LANES;
    const bool fused = D != LONG && k != nullptr;
    const Part part = Part::of<true>(positions, sequences, shape, cache.heads, fused, MIN_PIECE<D>,
            MIN_PIECE<D>);
    const int t = part.t;
    const int group = part.group;
    const int kvHead = part.kvHead;
    // of the heads of this y
    out += ((i64) t * shape.heads + part.chunkHead) * valueLength;
    const Pieces pieces(partial, shape);
    const i64 place = pieces.place(t, shape.heads, part.chunkHead);
    const int firstHead = part.head - part.chunkHead;
    if (part.sequence < 0) {
        waitForInputs();
        for (int i = threadIdx.x; part.block == 0 && i < part.chunk * valueLength; i += THREADS) {
            out[i] = 0.f;
        }
        return;
    }
    if (part.block >= part.blocks) {
        return; // the first block waits for the kernels in front
    }

    S keys[AT_ONCE];
    Slice<Values, D> values[AT_ONCE];
    auto load = [&](int first) {
#pragma unroll
        for (int n = 0; n < AT_ONCE; n++) {
            const int p = min(first + n * GROUPS, part.end - 1);
            keys[n].load(cache.row(cache.keys, part.sequence, p, kvHead, keyBytes), keyLength, lane);
            values[n].load(cache.row(cache.values, part.sequence, p, kvHead, valueBytes), valueLength, lane);
        }
    };
    const bool any = part.from < part.end;
    if (fused && any) {
        load(part.from + lanesGroup); // written in earlier steps
    }
    waitForInputs();
    if (!fused && any) {
        load(part.from + lanesGroup);
    }

    // queries, and keys and values of this step's rows, one warp a head
    for (int job = warp; job < group + 2 * part.fresh; job += WARPS) {
        if (job < group) {
            const int h = part.head + job;
            prepareHead(query, t, q + ((i64) t * shape.heads + h) * keyLength, queries[job], keyLength,
                    threadIdx.x % 32);
            continue;
        }
        const int back = (job - group) / 2;
        const i64 head = (i64) (t - back) * cache.heads + kvHead;
        if ((job - group) % 2 == 0) {
            prepareHead(key, t - back, k + head * keyLength, freshKeys[back], keyLength, threadIdx.x % 32);
        } else {
            for (int i = threadIdx.x % 32; i < valueLength; i += 32) {
                freshValues[back][i] = v[head * valueLength + i];
            }
        }
    }
    __syncthreads();
    const float scale = shape.scaleAt(part.position);
    float qs[GROUP][E];
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
#pragma unroll
        for (int j = 0; j < E; j++) {
            const int e = S::element(lane, j);
            qs[g][j] = g < group && e < keyLength ? queries[g][e] * scale : 0.f;
        }
    }

    Running<E> run;
    run.clear();
    for (int first = part.from; first < part.end; first += GROUPS * AT_ONCE) {
        float ks[AT_ONCE][E];
        float vs[AT_ONCE][E];
        bool valid[AT_ONCE];
        int distance[AT_ONCE];
#pragma unroll
        for (int n = 0; n < AT_ONCE; n++) {
            keys[n].decode(ks[n]);
            values[n].decode(vs[n]);
            const int p = first + lanesGroup + n * GROUPS;
            valid[n] = p < part.end;
            distance[n] = p - part.position;
        }
        if (first + GROUPS * AT_ONCE < part.end) {
            load(first + GROUPS * AT_ONCE + lanesGroup);
        }
        attend<LANES, E, AT_ONCE>(run, qs, part.head, group, shape, ks, vs, valid, distance);
    }
    for (int first = 0; first < part.fresh; first += GROUPS) {
        const int back = first + lanesGroup; // rows back from this one
        const bool valid[1] = {back < part.fresh && part.position - back >= part.low};
        const int row = valid[0] ? back : 0;
        float ks[1][E];
        float vs[1][E];
#pragma unroll
        for (int j = 0; j < E; j++) {
            const int e = S::element(lane, j);
            ks[0][j] = e < keyLength ? Keys::rounded(freshKeys[row][e]) : 0.f;
            vs[0][j] = e < valueLength ? Values::rounded(freshValues[row][e]) : 0.f;
        }
        const int distance[1] = {-back};
        attend<LANES, E, 1>(run, qs, part.head, group, shape, ks, vs, valid, distance);
    }
    if (part.appends) {
        if (warp == 0) {
            const KvRow row = cache.row(cache.keys, part.sequence, part.position, kvHead, keyBytes);
            Keys::write(row, freshKeys[0], keyLength, threadIdx.x % 32);
        } else if (warp == 1) {
            const KvRow row = cache.row(cache.values, part.sequence, part.position, kvHead, valueBytes);
            Values::write(row, freshValues[0], valueLength, threadIdx.x % 32);
        }
    }

    // join the groups of lanes of a warp, then the warps
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
        if (g >= group) {
            break;
        }
#pragma unroll
        for (int o = LANES; o < 32; o <<= 1) {
            run.join(g, o);
        }
        if (threadIdx.x % 32 < LANES) {
#pragma unroll
            for (int j = 0; j < E; j++) {
                const int e = S::element(lane, j);
                if (e < valueLength) {
                    sums[warp][g][e] = run.sum[g][j];
                }
            }
            maxima[warp][g] = run.maximum[g];
            weights[warp][g] = run.weight[g];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < group * valueLength; i += THREADS) {
        const int g = i / valueLength;
        const int e = i % valueLength;
        const float sink = shape.sink(part.head + g, part.piece);
        float maximum = sink;
        for (int w = 0; w < WARPS; w++) {
            maximum = fmaxf(maximum, maxima[w][g]);
        }
        float weight = exp2f(sink - maximum);
        float sum = 0.f;
        for (int w = 0; w < WARPS; w++) {
            const float factor = exp2f(maxima[w][g] - maximum);
            weight += factor * weights[w][g];
            sum += factor * sums[w][g][e];
        }
        if (part.pieces == 1) {
            out[firstHead * valueLength + i] = sum / weight;
        } else {
            const i64 at = place + (i64) (firstHead + g) * gridDim.x + part.piece;
            pieces.sums[at * valueLength + e] = sum;
            if (e == 0) {
                pieces.stats[2 * at] = maximum;
                pieces.stats[2 * at + 1] = weight;
            }
        }
    }
    if (part.pieces > 1 && isLastBlock(part, counters + t * gridDim.y + part.y)) {
        joinPieces<D <= 0 ? 1 : 4>(part, pieces, place, out, &sums[0][0][0]);
    }
}

// Element types whose products run on tensor cores.
template <class Kv>
constexpr bool ON_TENSOR_CORES = true;
template <>
constexpr bool ON_TENSOR_CORES<KvF32> = false;

#define ATTENTION(entry, threads, Keys, Values, D, DEEP)                                                               \
    extern "C" __global__ void __launch_bounds__(threads, 2) entry(                                                    \
            const float* q, const float* k, const float* v, const float* qNorm, const float* kNorm, float eps,         \
            const float* table, const int* positions, const int* sequences, const int* pages, int maxPages,            \
            u8* kCache, u8* vCache, float* out, float* partial, int* counters, int heads, int kvHeads, int keyLength,  \
            int valueLength, int ropeDim, int pairing, float scale, int window, float softCap, const float* sinks,     \
            const int* lasts, float gain, int offset, int period, int chunk, const float* bias, int biasReach,         \
            int biasSpan, const int* firsts) {                                                                         \
        const bool fused = k != nullptr;                                                                               \
        const HeadInput query{fused ? qNorm : nullptr, eps, fused ? table : nullptr, ropeDim, pairing};                \
        const HeadInput key{kNorm, eps, table, ropeDim, pairing};                                                      \
        const KvCache cache{kCache, vCache, pages, maxPages, kvHeads};                                                 \
        const Shape shape{                                                                                             \
                heads, keyLength, valueLength, scale, window, softCap, PLAIN ? nullptr : sinks,                        \
                PLAIN ? nullptr : lasts, PLAIN ? 0.f : gain, offset, period, PLAIN ? 0 : chunk,                        \
                PLAIN ? nullptr : bias, biasReach, biasSpan, PLAIN ? nullptr : firsts};                                \
        if constexpr (D > 0 && ON_TENSOR_CORES<Keys> && ON_TENSOR_CORES<Values>) {                                     \
            attentionTensor<Keys, Values, D, DEEP>(                                                                    \
                    q, k, v, query, key, cache, positions, sequences, out, partial, counters, shape);                  \
        } else {                                                                                                       \
            attention<Keys, Values, D>(                                                                                \
                    q, k, v, query, key, cache, positions, sequences, out, partial, counters, shape);                  \
        }                                                                                                              \
    }

#define ATTENTIONS(name, Keys, Values)                                                                                 \
    ATTENTION(attention_##name##_d64, THREADS_OF<64>, Keys, Values, 64, false)                                         \
    ATTENTION(attention_##name##_d128, THREADS_OF<128>, Keys, Values, 128, false)                                      \
    ATTENTION(attention_##name##_dany, THREADS_OF<ANY>, Keys, Values, ANY, false)                                      \
    ATTENTION(attention_##name##_dlong, THREADS_OF<LONG>, Keys, Values, LONG, false)

// For long sequences, where blocks run beside the kernel in front of them: see attention_tensor.cuh.
#if TENON_BULK
#define DEEP_ATTENTIONS(name, Keys, Values)                                                                            \
    ATTENTION(attention_deep_##name##_d64, (TENSOR_THREADS<64, true>), Keys, Values, 64, true)                         \
    ATTENTION(attention_deep_##name##_d128, (TENSOR_THREADS<128, true>), Keys, Values, 128, true)
#else
#define DEEP_ATTENTIONS(name, Keys, Values)
#endif
#define ATTENTIONS_OF(name, Keys, Values)                                                                              \
    ATTENTIONS(name, Keys, Values)                                                                                     \
    DEEP_ATTENTIONS(name, Keys, Values)

#ifdef TENON_KEYS
ATTENTIONS_OF(KV_PAIR(TENON_KEYS, TENON_VALUES), KV_TYPE(TENON_KEYS), KV_TYPE(TENON_VALUES))
#else
ATTENTIONS(f32, KvF32, KvF32)
ATTENTIONS_OF(f16, KvF16, KvF16)
ATTENTIONS_OF(q8_0, KvQ8_0, KvQ8_0)
#endif
