// Ops with a state (see states.cu) that forget each key by its own factor, and that of the token before.
#include "states.cuh"

// out[t][n][i] = x[t][i] + weight[n][i] * (x[t - 1][i] - x[t][i]), of the run's rows. The state is the last row of x. A
// block a row (x) and some channels (y); the thread of a run's first row renews the state.
extern "C" __global__ void token_shift(const float* x, const float* weight, float* states, const int* runOfRow,
        const Run* runs, const int* positions, float* out, int width, int ways) {
    launchDependents();
    const int t = blockIdx.x;
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    const int number = runOfRow[t];
    const Run run = runs[max(number, 0)];
    waitForInputs();
    if (number < 0 || i >= width) {
        return;
    }
    float* state = states + (i64) run.slot * width + i;
    const float own = x[(i64) t * width + i];
    const float before = t > run.first                ? x[(i64) (t - 1) * width + i]
                         : positions[run.first] == 0 ? 0.f
                                                     : *state;
    for (int n = 0; n < ways; n++) {
        out[((i64) t * ways + n) * width + i] = own + weight[n * width + i] * (before - own);
    }
    if (t == run.first) {
        *state = x[(i64) (run.first + run.rows - 1) * width + i];
    }
}

constexpr int TOKENS = 4; // whose vectors are in shared memory at once

// What a token gives to a head of states, a number for each of a row.
template <int PADDED>
struct Vectors {
    float keep[PADDED];
    float remove[PADDED];
    float add[PADDED];
    float key[PADDED];
    float query[PADDED];
};

// A head has a state of `rows` vectors m of `length` numbers. For each token
//
//   f = m . remove;   m = keep * m - f * add + value * key;   out = m . query
//
// with a value, an m and an out for each row. `bring(vectors, row, lane)` is called by a warp for each token, and
// valueOf(row, r) gives a value. Eight lanes hold an m in registers, 4 numbers of every 32 each. A block 32 rows (x), a
// head (y), a run (z).
template <int CHUNKS, class Bring, class Value>
static DEVICE void advanceKeys(float* states, const Run* runs, const int* positions, float* out, int rows, int length,
        Bring bring, Value valueOf) {
    __shared__ alignas(16) Vectors<32 * CHUNKS> vectors[TOKENS];
    const Run run = runs[blockIdx.z];
    const int heads = gridDim.y;
    const int part = threadIdx.x % LANES;
    const int row = blockIdx.x * ROWS + threadIdx.x / LANES;
    const bool there = row < rows && run.rows > 0;
    float* state = states + (((i64) run.slot * heads + blockIdx.y) * rows + row) * length;
    const bool whole = length == 32 * CHUNKS;
    const bool goesOn = there && positions[run.first] > 0;
    float4 m[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        m[c] = goesOn ? loadFour(state, 32 * c + 4 * part, length, whole) : make_float4(0.f, 0.f, 0.f, 0.f);
    }
    waitForInputs();
    for (int from = 0; from < run.rows; from += TOKENS) {
        const int count = min(TOKENS, run.rows - from);
        for (int n = threadIdx.x / 32; n < count; n += 256 / 32) {
            bring(vectors[n], run.first + from + n, threadIdx.x % 32);
        }
        __syncthreads();
        for (int n = 0; n < count; n++) {
            const int t = run.first + from + n;
            const Vectors<32 * CHUNKS>& of = vectors[n];
            float found = 0.f;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                const float4 r = ((const float4*) of.remove)[8 * c + part];
                found += m[c].x * r.x + m[c].y * r.y + m[c].z * r.z + m[c].w * r.w;
            }
            found = sumOver(found, LANES);
            const float value = there ? valueOf(t, row) : 0.f;
            float result = 0.f;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                const float4 keep = ((const float4*) of.keep)[8 * c + part];
                const float4 add = ((const float4*) of.add)[8 * c + part];
                const float4 key = ((const float4*) of.key)[8 * c + part];
                const float4 q = ((const float4*) of.query)[8 * c + part];
                m[c].x = keep.x * m[c].x - found * add.x + value * key.x;
                m[c].y = keep.y * m[c].y - found * add.y + value * key.y;
                m[c].z = keep.z * m[c].z - found * add.z + value * key.z;
                m[c].w = keep.w * m[c].w - found * add.w + value * key.w;
                result += m[c].x * q.x + m[c].y * q.y + m[c].z * q.z + m[c].w * q.w;
            }
            result = sumOver(result, LANES);
            if (there && part == 0) {
                out[((i64) t * heads + blockIdx.y) * rows + row] = result;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int c = 0; there && c < CHUNKS; c++) {
        storeFour(state, 32 * c + 4 * part, length, whole, m[c]);
    }
}

// As gated_delta_rule of states.cu, with a decay of each key: keep = exp(a * softplus(step + bias)).
template <int CHUNKS>
static DEVICE void deltaRuleOfKeys(const float* qkv, const float* step, const float* beta, const float* a,
        const float* bias, float* states, const Run* runs, const int* positions, float* out, int keyHeads, int cyclic,
        float eps, int rows, int length) {
    launchDependents();
    const int heads = gridDim.y;
    const int head = blockIdx.y;
    const int keyHead = cyclic ? head % keyHeads : head / (heads / keyHeads);
    const int width = 2 * keyHeads * length + heads * rows;
    auto bring = [&](Vectors<32 * CHUNKS>& to, int t, int lane) {
        const float* query = qkv + (i64) t * width + keyHead * length;
        const float* key = query + keyHeads * length;
        float ofKey = 0.f;
        float ofQuery = 0.f;
        for (int s = lane; s < length; s += 32) {
            ofKey += key[s] * key[s];
            ofQuery += query[s] * query[s];
        }
        const float forKey = 1.f / fmaxf(sqrtf(sumOver(ofKey, 32)), eps);
        const float forQuery = rsqrtf((float) length) / fmaxf(sqrtf(sumOver(ofQuery, 32)), eps);
        const float strength = 1.f / (1.f + expf(-beta[(i64) t * heads + head]));
        for (int s = lane; s < 32 * CHUNKS; s += 32) {
            const bool real = s < length;
            const int at = head * length + s;
            const float k = real ? forKey * key[s] : 0.f;
            const float keep = real ? expf(a[head] * softplus(step[(i64) t * heads * length + at] + bias[at])) : 0.f;
            to.keep[s] = keep;
            to.remove[s] = keep * k;
            to.add[s] = strength * k;
            to.key[s] = strength * k;
            to.query[s] = real ? forQuery * query[s] : 0.f;
        }
    };
    auto value = [&](int t, int row) {
        return qkv[(i64) t * width + 2 * keyHeads * length + head * rows + row];
    };
    advanceKeys<CHUNKS>(states, runs, positions, out, rows, length, bring, value);
}

// rkv[t]: r, k and v of all heads each
template <int CHUNKS>
static DEVICE void replacementRule(const float* rkv, const float* decay, const float* remove, const float* add,
        float* states, const Run* runs, const int* positions, float* out, int length) {
    launchDependents();
    const int width = gridDim.y * length;
    const int first = blockIdx.y * length; // of the head
    auto bring = [&](Vectors<32 * CHUNKS>& to, int t, int lane) {
        for (int s = lane; s < 32 * CHUNKS; s += 32) {
            const bool real = s < length;
            const i64 at = (i64) t * width + first + s;
            const i64 ofKey = (i64) t * 3 * width + first + s;
            to.keep[s] = real ? expf(decay[at]) : 0.f;
            to.remove[s] = real ? remove[at] : 0.f;
            to.add[s] = real ? add[at] : 0.f;
            to.key[s] = real ? rkv[ofKey + width] : 0.f;
            to.query[s] = real ? rkv[ofKey] : 0.f;
        }
    };
    auto value = [&](int t, int row) { return rkv[(i64) t * 3 * width + 2 * width + first + row]; };
    advanceKeys<CHUNKS>(states, runs, positions, out, length, length, bring, value);
}

// of at most so many numbers in a row of a state
#define KEY_STATES(length, chunks)                                                                                     \
    extern "C" __global__ void __launch_bounds__(256) delta_rule_of_keys_##length(const float* qkv,                    \
            const float* decay, const float* beta, const float* a, const float* bias, float* states, const Run* runs,  \
            const int* positions, float* out, int keyHeads, int cyclic, float eps, int rows, int numbers) {            \
        deltaRuleOfKeys<chunks>(                                                                                       \
                qkv, decay, beta, a, bias, states, runs, positions, out, keyHeads, cyclic, eps, rows, numbers);        \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) replacement_rule_##length(const float* rkv, const float* decay,  \
            const float* remove, const float* add, float* states, const Run* runs, const int* positions, float* out,   \
            int numbers) {                                                                                             \
        replacementRule<chunks>(rkv, decay, remove, add, states, runs, positions, out, numbers);                       \
    }

KEY_STATES(32, 1)
KEY_STATES(64, 2)
KEY_STATES(128, 4)
KEY_STATES(256, 8)
