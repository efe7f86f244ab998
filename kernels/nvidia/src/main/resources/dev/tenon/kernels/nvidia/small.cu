// The small ops: norm, rotation, element by element, appending to the KV cache, choosing rows.
#include "kv_cache.cuh"

// out = x / sqrt(mean(x^2) + eps) * weight; a block a group
extern "C" __global__ void rms_norm(const float* x, const float* weight, float eps, float* out, int group, int groups) {
    __shared__ float scratch[32];
    launchDependents();
    waitForInputs();
    const float* from = x + (i64) blockIdx.x * group;
    float* to = out + (i64) blockIdx.x * group;
    float squares = 0.f;
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        squares += from[i] * from[i];
    }
    const float factor = rsqrtf(sumOverBlock(squares, scratch) / group + eps);
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        to[i] = from[i] * factor * weight[i];
    }
}

// table[t][i] = (cos, sin) of position[t] * frequency[i], the angle in double precision; a block a token
extern "C" __global__ void rope_table(const int* positions, const double* frequency, float* table, int pairs) {
    launchDependents();
    waitForInputs();
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        double sine;
        double cosine;
        sincos(positions[blockIdx.x] * frequency[i], &sine, &cosine);
        float* to = table + 2 * ((i64) blockIdx.x * pairs + i);
        to[0] = (float) cosine;
        to[1] = (float) sine;
    }
}

// Rotates heads; a block a head (x) and token (y). out may be x.
extern "C" __global__ void rope(
        const float* x, const float* table, float* out, int heads, int headDim, int ropeDim, int pairing) {
    launchDependents();
    waitForInputs();
    const int pairs = ropeDim / 2;
    const i64 at = ((i64) blockIdx.y * heads + blockIdx.x) * headDim;
    const float* angles = table + 2 * (i64) blockIdx.y * pairs;
    for (int i = threadIdx.x; i < headDim - pairs; i += blockDim.x) {
        if (i < pairs) {
            const i64 a = at + (pairing == 0 ? 2 * i : i);
            const i64 b = a + (pairing == 0 ? 1 : pairs);
            const float u = x[a];
            const float v = x[b];
            out[a] = u * angles[2 * i] - v * angles[2 * i + 1];
            out[b] = u * angles[2 * i + 1] + v * angles[2 * i];
        } else {
            out[at + i + pairs] = x[at + i + pairs];
        }
    }
}

// Element by element: out[i] = f(i) for i in 0 .. n - 1.
template <class Function>
static DEVICE void forEach(i64 n, float* out, Function f) {
    launchDependents();
    waitForInputs();
    const i64 step = (i64) gridDim.x * blockDim.x;
    for (i64 i = (i64) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        out[i] = f(i);
    }
}

extern "C" __global__ void add(const float* a, const float* b, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return a[i] + b[i]; });
}

extern "C" __global__ void multiply(const float* a, const float* b, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return a[i] * b[i]; });
}

extern "C" __global__ void scale(const float* x, float factor, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return factor * x[i]; });
}

extern "C" __global__ void soft_cap(const float* x, float cap, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return cap * tanhf(x[i] / cap); });
}

extern "C" __global__ void activate(const float* x, int activation, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return activated(x[i], activation); });
}

// out[l] = x[rows[l]]; a block a row
extern "C" __global__ void select_rows(const float* x, const int* rows, float* out, int width) {
    launchDependents();
    const i64 row = rows[blockIdx.x];
    waitForInputs();
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        out[(i64) blockIdx.x * width + i] = x[row * width + i];
    }
}

// Everything between the projections and attention for many tokens: norms and rotates queries in place, norms and
// rotates keys into the cache, copies values into the cache. A block of one warp a head (x: queries, keys, values) and
// token (y).
template <class Keys, class Values>
static DEVICE void ropeAppend(float* q, const float* k, const float* v, const HeadInput& query, const HeadInput& key,
        const KvCache& cache, const int* positions, const int* sequences, int heads, int keyLength, int valueLength) {
    __shared__ float head[MAX_HEAD];
    launchDependents();
    const int t = blockIdx.y;
    const int lane = threadIdx.x;
    const int sequence = sequences[t];
    const int position = positions[t];
    waitForInputs();
    if (sequence < 0) {
        return;
    }
    int h = blockIdx.x;
    if (h < heads) {
        float* at = q + ((i64) t * heads + h) * keyLength;
        prepareHead(query, t, at, head, keyLength, lane);
        for (int i = lane; i < keyLength; i += 32) {
            at[i] = head[i];
        }
        return;
    }
    h -= heads;
    if (h < cache.heads) {
        prepareHead(key, t, k + ((i64) t * cache.heads + h) * keyLength, head, keyLength, lane);
        Keys::write(cache.row(cache.keys, sequence, position, h, Keys::rowBytes(keyLength)), head, keyLength, lane);
    } else {
        h -= cache.heads;
        const float* from = v + ((i64) t * cache.heads + h) * valueLength;
        Values::write(
                cache.row(cache.values, sequence, position, h, Values::rowBytes(valueLength)), from, valueLength, lane);
    }
}

#define ROPE_APPEND_(name, Keys, Values)                                                                               \
    extern "C" __global__ void rope_append_##name(float* q, const float* k, const float* v, const float* qNorm,        \
            const float* kNorm, float eps, const float* table, const int* positions, const int* sequences,             \
            const int* pages, int maxPages, u8* kCache, u8* vCache, int heads, int kvHeads, int keyLength,             \
            int valueLength, int ropeDim, int pairing) {                                                               \
        ropeAppend<Keys, Values>(q, k, v, HeadInput{qNorm, eps, table, ropeDim, pairing},                              \
                HeadInput{kNorm, eps, table, ropeDim, pairing}, KvCache{kCache, vCache, pages, maxPages, kvHeads},     \
                positions, sequences, heads, keyLength, valueLength);                                                  \
    }
#define ROPE_APPEND(name, Keys, Values) ROPE_APPEND_(name, Keys, Values)

#ifdef TENON_KEYS
ROPE_APPEND(KV_PAIR(TENON_KEYS, TENON_VALUES), KV_TYPE(TENON_KEYS), KV_TYPE(TENON_VALUES))
#else
ROPE_APPEND(f32, KvF32, KvF32)
ROPE_APPEND(f16, KvF16, KvF16)
ROPE_APPEND(q8_0, KvQ8_0, KvQ8_0)
#endif
