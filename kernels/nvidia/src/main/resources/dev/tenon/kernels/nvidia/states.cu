// Ops with a state: what they compute for a token depends on what is left of the tokens before it in its sequence.
//
//   states      [slot][floats of the op], float32
//   runOfRow    [T], which run of the step a row belongs to; -1 for rows of no sequence
//   runs        [run], the rows of one sequence in the step: first row, rows (0: no such run), slot
//
// A state is what earlier steps left, so that it is read before waitForInputs(). The run whose first position is 0 begins
// with zeros.
#include "states.cuh"

// Causal convolution of each channel by itself: out[t][i] = act(sum over j of weight[i][j] * x[t - taps + 1 + j][i]
// + bias[i]). The state is the last taps - 1 rows of x. A block a row (x) and some channels (y). The thread of a run's
// first row computes the next rows that need the state, too, and then renews it.
extern "C" __global__ void short_convolution(const float* x, const float* weight, const float* bias, float* states,
        const int* runOfRow, const Run* runs, const int* positions, float* out, int width, int taps, int activation) {
    launchDependents();
    const int t = blockIdx.x;
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    const int number = runOfRow[t];
    const Run run = runs[max(number, 0)];
    const int before = taps - 1;
    waitForInputs();
    if (number < 0 || i >= width || (t > run.first && t - run.first < before)) {
        return;
    }
    float* state = states + (i64) run.slot * before * width + i;
    const bool begins = positions[run.first] == 0;
    // x of a row of the run, counted from its first one; of rows before it, what the state holds
    auto at = [&](int row) {
        if (row >= 0) {
            return x[(i64) (run.first + row) * width + i];
        }
        return begins ? 0.f : state[(i64) (before + row) * width];
    };
    const int row = t - run.first;
    const int end = row > 0 ? row + 1 : max(1, min(before, run.rows));
    for (int r = row; r < end; r++) {
        float sum = bias != nullptr ? bias[i] : 0.f;
        for (int j = 0; j < taps; j++) {
            sum += weight[i * taps + j] * at(r - before + j);
        }
        out[(i64) (run.first + r) * width + i] = activation < 0 ? sum : activated(sum, activation);
    }
    for (int j = 0; row == 0 && j < before; j++) {
        state[(i64) j * width] = at(run.rows - before + j);
    }
}

constexpr int TOKENS = 16;                // whose vectors are in shared memory at once

// What the tokens of a step give to a head of states.
struct Head {
    const float* x;      // [T][width], where the vectors are
    int width;
    int key;             // first element of the head's vectors in a row of x
    int query;
    int value;
    const float* step;   // [T][heads], what decays are made of
    const float* beta;   // [T][heads], what strengths are made of; of the delta rule only
    int heads;
    int head;
    float a;             // of the head
    float bias;
    float d;             // of scans only
    float eps;           // of the delta rule only
};

// A head has a state of `rows` vectors m of `length` numbers. For each token
//
//   m = decay * m + delta * key          delta = strength * value              (scan)
//   out = m . query (+ d * value)                strength * (value - decay * m . key)   (delta rule)
//
// with a value, an m and an out for each row. The new m . query is decay * (m . query) + delta * (key . query), so that
// both sums are over the old m. Eight lanes hold an m in registers, 4 numbers of every 32 each.
template <int CHUNKS, bool RULE>
static DEVICE void advance(const Head& h, float* states, const Run* runs, const int* positions, float* out, int rows,
        int length) {
    constexpr int PADDED = 32 * CHUNKS;
    __shared__ float4 keys[TOKENS][PADDED / 4];
    __shared__ float4 queries[TOKENS][PADDED / 4];
    __shared__ float values[TOKENS][ROWS];
    __shared__ float decays[TOKENS];
    __shared__ float strengths[TOKENS];
    __shared__ float products[TOKENS]; // key . query
    const Run run = runs[blockIdx.z];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int part = threadIdx.x % LANES;
    const int own = threadIdx.x / LANES; // row in the block
    const int row = blockIdx.x * ROWS + own;
    const bool there = row < rows && run.rows > 0;
    float* state = states + (((i64) run.slot * h.heads + h.head) * rows + row) * length;
    const bool whole = length == PADDED;
    float4 m[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        m[c] = make_float4(0.f, 0.f, 0.f, 0.f);
    }
    if (there && positions[run.first] > 0) {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            m[c] = loadFour(state, 32 * c + 4 * part, length, whole);
        }
    }
    waitForInputs();
    for (int from = 0; from < run.rows; from += TOKENS) {
        const int count = min(TOKENS, run.rows - from);
        const i64 first = run.first + from;
        // A warp brings the vectors of a token.
        for (int n = warp; n < count; n += 256 / 32) {
            const float* x = h.x + (first + n) * h.width;
            float* key = (float*) keys[n];
            float* query = (float*) queries[n];
            float k[CHUNKS];
            float q[CHUNKS];
            float ofKey = 0.f;
            float ofQuery = 0.f;
            float ofBoth = 0.f;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                const int s = 32 * c + lane;
                k[c] = s < length ? x[h.key + s] : 0.f;
                q[c] = s < length ? x[h.query + s] : 0.f;
                ofKey += k[c] * k[c];
                ofQuery += q[c] * q[c];
                ofBoth += k[c] * q[c];
            }
            float forKey = 1.f;
            float forQuery = 1.f;
            if (RULE) {
                forKey = 1.f / fmaxf(sqrtf(sumOver(ofKey, 32)), h.eps);
                forQuery = rsqrtf((float) length) / fmaxf(sqrtf(sumOver(ofQuery, 32)), h.eps);
            }
            ofBoth = sumOver(ofBoth, 32);
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                key[32 * c + lane] = forKey * k[c];
                query[32 * c + lane] = forQuery * q[c];
            }
            if (lane == 0) {
                const i64 at = (first + n) * h.heads + h.head;
                const float dt = softplus(h.step[at] + h.bias);
                decays[n] = expf(dt * h.a);
                strengths[n] = RULE ? 1.f / (1.f + expf(-h.beta[at])) : dt;
                products[n] = forKey * forQuery * ofBoth;
            }
        }
        for (int e = threadIdx.x; e < count * ROWS; e += 256) {
            const int r = blockIdx.x * ROWS + e % ROWS;
            values[e / ROWS][e % ROWS] = r < rows ? h.x[(first + e / ROWS) * h.width + h.value + r] : 0.f;
        }
        __syncthreads();
        for (int n = 0; n < count; n++) {
            const float decay = decays[n];
            const float value = values[n][own];
            float4 key[CHUNKS];
            float withKey = 0.f;
            float withQuery = 0.f;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                key[c] = keys[n][8 * c + part];
                const float4 q = queries[n][8 * c + part];
                withQuery += m[c].x * q.x + m[c].y * q.y + m[c].z * q.z + m[c].w * q.w;
                if (RULE) {
                    withKey += m[c].x * key[c].x + m[c].y * key[c].y + m[c].z * key[c].z + m[c].w * key[c].w;
                }
            }
            withQuery = sumOver(withQuery, LANES);
            float delta = strengths[n] * value;
            if (RULE) {
                delta = strengths[n] * (value - decay * sumOver(withKey, LANES));
            }
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                m[c].x = decay * m[c].x + delta * key[c].x;
                m[c].y = decay * m[c].y + delta * key[c].y;
                m[c].z = decay * m[c].z + delta * key[c].z;
                m[c].w = decay * m[c].w + delta * key[c].w;
            }
            if (there && part == 0) {
                const float skipped = RULE ? 0.f : h.d * value;
                out[((first + n) * h.heads + h.head) * rows + row] =
                        decay * withQuery + delta * products[n] + skipped;
            }
        }
        __syncthreads();
    }
    if (there) {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            storeFour(state, 32 * c + 4 * part, length, whole, m[c]);
        }
    }
}

// xbc[t]: x of all heads, B of all groups, C of all groups; a block 32 rows (x), a head (y), a run (z)
template <int CHUNKS>
static DEVICE void selectiveScan(const float* xbc, const float* step, const float* a, const float* d, const float* bias,
        float* states, const Run* runs, const int* positions, float* out, int groups, int rows, int length) {
    launchDependents();
    const int heads = gridDim.y;
    const int head = blockIdx.y;
    const int b = heads * rows + head / (heads / groups) * length;
    const int width = heads * rows + 2 * groups * length;
    advance<CHUNKS, false>(
            Head{xbc, width, b, b + groups * length, head * rows, step, nullptr, heads, head, a[head], bias[head], d[head],
                    0.f},
            states, runs, positions, out, rows, length);
}

// qkv[t]: the query heads, the key heads, the value heads; a block 32 rows (x), a value head (y), a run (z)
template <int CHUNKS>
static DEVICE void gatedDeltaRule(const float* qkv, const float* step, const float* beta, const float* a,
        const float* bias, float* states, const Run* runs, const int* positions, float* out, int keyHeads, int cyclic,
        float eps, int rows, int length) {
    launchDependents();
    const int heads = gridDim.y;
    const int head = blockIdx.y;
    const int keyHead = cyclic ? head % keyHeads : head / (heads / keyHeads);
    const int width = 2 * keyHeads * length + heads * rows;
    advance<CHUNKS, true>(
            Head{qkv, width, (keyHeads + keyHead) * length, keyHead * length, 2 * keyHeads * length + head * rows, step,
                    beta, heads, head, a[head], bias[head], 0.f, eps},
            states, runs, positions, out, rows, length);
}

// of at most so many numbers in a row of a state
#define STATES(length, chunks)                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) selective_scan_##length(const float* xbc, const float* step,     \
            const float* a, const float* d, const float* bias, float* states, const Run* runs, const int* positions,   \
            float* out, int groups, int rows, int numbers) {                                                           \
        selectiveScan<chunks>(xbc, step, a, d, bias, states, runs, positions, out, groups, rows, numbers);             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) gated_delta_rule_##length(const float* qkv, const float* decay,  \
            const float* beta, const float* a, const float* bias, float* states, const Run* runs,                      \
            const int* positions, float* out, int keyHeads, int cyclic, float eps, int rows, int numbers) {            \
        gatedDeltaRule<chunks>(                                                                                        \
                qkv, decay, beta, a, bias, states, runs, positions, out, keyHeads, cyclic, eps, rows, numbers);        \
    }

STATES(32, 1)
STATES(64, 2)
STATES(128, 4)
STATES(256, 8)
