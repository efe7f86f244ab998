// The small ops: norm, rotation, element by element, appending to the KV cache, choosing rows.
#include "elementwise.cuh"
#include "kv_cache.cuh"

// out = x / sqrt(mean(x^2) + eps) * weight; a block a group. `weights` rows of the weight belong to as many groups in
// turn.
extern "C" __global__ void rms_norm(
        const float* x, const float* weight, float eps, float* out, int group, int weights) {
    __shared__ float scratch[32];
    launchDependents();
    waitForInputs();
    const float* from = x + (i64) blockIdx.x * group;
    float* to = out + (i64) blockIdx.x * group;
    weight += (i64) (blockIdx.x % weights) * group;
    float squares = 0.f;
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        squares += from[i] * from[i];
    }
    const float factor = rsqrtf(sumOverBlock(squares, scratch) / group + eps);
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        to[i] = from[i] * factor * weight[i];
    }
}

// As rms_norm, in place and for two values of one row each: x of a whole row, then y; a block a row (x) and value (y)
extern "C" __global__ void rms_norm_two(float* x, const float* ofX, int widthX, float* y, const float* ofY, int widthY,
        float eps) {
    __shared__ float scratch[32];
    launchDependents();
    waitForInputs();
    const int width = blockIdx.y == 0 ? widthX : widthY;
    const float* weight = blockIdx.y == 0 ? ofX : ofY;
    float* row = (blockIdx.y == 0 ? x : y) + (i64) blockIdx.x * width;
    float squares = 0.f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        squares += row[i] * row[i];
    }
    const float factor = rsqrtf(sumOverBlock(squares, scratch) / width + eps);
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        row[i] *= factor * weight[i];
    }
}

// out = residual + x / sqrt(mean(x^2) + eps) * weight; a block a row
extern "C" __global__ void rms_norm_add(
        const float* x, const float* weight, float eps, const float* residual, float* out, int width) {
    __shared__ float scratch[32];
    launchDependents();
    waitForInputs();
    const i64 row = (i64) blockIdx.x * width;
    float squares = 0.f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        squares += x[row + i] * x[row + i];
    }
    const float factor = rsqrtf(sumOverBlock(squares, scratch) / width + eps);
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        out[row + i] = residual[row + i] + x[row + i] * factor * weight[i];
    }
}

// out = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight + bias, which may be null; a block a group. `weights`
// rows of the weight belong to as many groups in turn; with more than one there is no bias.
extern "C" __global__ void layer_norm(
        const float* x, const float* weight, const float* bias, float eps, float* out, int group, int weights) {
    __shared__ float scratch[2][32];
    launchDependents();
    waitForInputs();
    const float* from = x + (i64) blockIdx.x * group;
    float* to = out + (i64) blockIdx.x * group;
    weight += (i64) (blockIdx.x % weights) * group;
    float sum = 0.f;
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        sum += from[i];
    }
    const float mean = sumOverBlock(sum, scratch[0]) / group;
    float squares = 0.f;
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        squares += (from[i] - mean) * (from[i] - mean);
    }
    const float factor = rsqrtf(sumOverBlock(squares, scratch[1]) / group + eps);
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        const float normed = (from[i] - mean) * factor * weight[i];
        to[i] = bias != nullptr ? normed + bias[i] : normed;
    }
}

// table[t][i] = magnitude * (cos, sin) of position[t] * frequency[i], the angle in double precision; a block a token
extern "C" __global__ void rope_table(
        const int* positions, const double* frequency, float* table, int pairs, float magnitude) {
    launchDependents();
    waitForInputs();
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        double sine;
        double cosine;
        sincos(positions[blockIdx.x] * frequency[i], &sine, &cosine);
        float* to = table + 2 * ((i64) blockIdx.x * pairs + i);
        to[0] = (float) cosine * magnitude;
        to[1] = (float) sine * magnitude;
    }
}

// As rope_table, by the place of a token on the axis of each pair: places[axis][t] instead of position[t]
extern "C" __global__ void rope_table_along(const int* places, const float* axes, const double* frequency,
        float* table, int pairs, float magnitude) {
    launchDependents();
    waitForInputs();
    const int rows = (gridDim.x + 3) & ~3; // places of an axis begin at a multiple of 16 bytes
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        double sine;
        double cosine;
        sincos(places[(int) axes[i] * rows + blockIdx.x] * frequency[i], &sine, &cosine);
        float* to = table + 2 * ((i64) blockIdx.x * pairs + i);
        to[0] = (float) cosine * magnitude;
        to[1] = (float) sine * magnitude;
    }
}

// Rotates heads; a block a head (x) and token (y). `half` pairs are of elements among themselves. out may be x.
extern "C" __global__ void rope(const float* x, const float* table, float* out, int heads, int headDim, int ropeDim,
        int half, int pairing) {
    launchDependents();
    waitForInputs();
    const int pairs = ropeDim / 2;
    const i64 at = ((i64) blockIdx.y * heads + blockIdx.x) * headDim;
    const float* angles = table + 2 * (i64) blockIdx.y * pairs;
    for (int i = threadIdx.x; i < headDim - pairs; i += blockDim.x) {
        if (i < pairs) {
            const i64 a = at + (pairing == 0 ? 2 * i : i + i / half * half);
            const i64 b = a + (pairing == 0 ? 1 : half);
            const float u = x[a];
            const float v = x[b];
            out[a] = u * angles[2 * i] - v * angles[2 * i + 1];
            out[b] = u * angles[2 * i + 1] + v * angles[2 * i];
        } else {
            out[at + i + pairs] = x[at + i + pairs];
        }
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

// out = a / (1 + exp(-alpha a)) * (b + 1), a = min(gate, limit), b = up within +- limit
extern "C" __global__ void swiglu_oai(
        const float* gate, const float* up, float alpha, float limit, float* out, i64 n) {
    forEach(n, out, [&](i64 i) {
        const float a = fminf(gate[i], limit);
        const float b = fmaxf(-limit, fminf(up[i], limit));
        return __fdividef(a, 1.f + __expf(-alpha * a)) * (b + 1.f);
    });
}

// out[t] = x[t] * (1 + gain * ln(1 + (position + offset) / period)), divided to a whole number
extern "C" __global__ void position_scale(const float* x, const int* positions, float gain, int offset, int period,
        float* out, int width, i64 n) {
    forEach(n, out, [&](i64 i) { return x[i] * positionFactor(gain, offset, period, positions[i / width]); });
}

// out[t][g * length + i] = x[t][g * group + from + i]
extern "C" __global__ void slice(const float* x, int group, int from, int length, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return x[i / length * group + from + i % length]; });
}

// out[t][g] = a[t][g], then b[t][g], groups of so many elements
extern "C" __global__ void join(const float* a, const float* b, int ofA, int ofB, float* out, i64 n) {
    forEach(n, out, [&](i64 i) {
        const i64 group = i / (ofA + ofB);
        const int at = (int) (i - group * (ofA + ofB));
        return at < ofA ? a[group * ofA + at] : b[group * ofB + at - ofA];
    });
}

// out[t] = row
extern "C" __global__ void repeat(const float* row, int width, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return row[i % width]; });
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

// out[l] = the mean (or, with `first`, the first) of the rows of x that belong to the sequence of row rows[l], among
// all `count` rows of the step; a block a row (x) and some columns (y)
extern "C" __global__ void pool(
        const float* x, const int* rows, const int* sequences, float* out, int width, int count, int first) {
    __shared__ int range[2]; // of the sequence's rows
    launchDependents();
    if (threadIdx.x == 0) {
        range[0] = count;
        range[1] = 0;
    }
    __syncthreads();
    const int sequence = sequences[rows[blockIdx.x]];
    for (int t = threadIdx.x; t < count; t += blockDim.x) {
        if (sequences[t] == sequence) {
            atomicMin(&range[0], t);
            atomicMax(&range[1], t + 1);
        }
    }
    __syncthreads();
    const int from = range[0];
    const int end = first ? from + 1 : range[1];
    waitForInputs();
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < width; i += gridDim.y * blockDim.x) {
        float sum = 0.f;
#pragma unroll 4
        for (int t = from; t < end; t++) {
            sum += x[(i64) t * width + i];
        }
        out[(i64) blockIdx.x * width + i] = sum / (end - from);
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
