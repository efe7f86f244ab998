// Mixtures of experts beside their matrices: which experts a token uses, which tokens an expert has, and the sum of
// what a token's experts give.
#include "common.cuh"

constexpr int MOST_EXPERTS = 1024;
constexpr int ROUTER_THREADS = 256;
constexpr int GROUP_THREADS = 1024;

// Larger than all others; of equals the first one.
DEVICE bool before(float a, int i, float b, int k) { return a > b || (a == b && i < k); }

// The experts of a token and their shares (RouterParams of the graph says what each parameter does); a block a token.
//
// An expert's place among the chosen is the number of experts before it, so all places are found at once.
extern "C" __global__ void __launch_bounds__(ROUTER_THREADS)
    router(const float* logits, const float* bias, float* chosen, float* shares, int experts, int used, int sigmoid,
           int normalise, float scale, int groups, int groupsUsed) {
    __shared__ float p[MOST_EXPERTS];
    __shared__ float score[MOST_EXPERTS];
    __shared__ float ofGroup[MOST_EXPERTS];
    __shared__ u8 open[MOST_EXPERTS];    // whether a group's experts can be chosen
    __shared__ int best[MOST_EXPERTS];
    __shared__ float scratch[2][ROUTER_THREADS / 32];
    launchDependents();
    waitForInputs();
    const int lane = threadIdx.x & 31;
    const float* row = logits + (i64) blockIdx.x * experts;
    float largest = __int_as_float(0xff800000); // -infinity
    for (int e = threadIdx.x; e < experts; e += ROUTER_THREADS) {
        p[e] = row[e];
        largest = fmaxf(largest, row[e]);
        best[e] = e; // where logits are no numbers, nothing is before anything
    }
    if (sigmoid == 0) {
        largest = maxOver(largest, 32);
        if (lane == 0) {
            scratch[0][threadIdx.x >> 5] = largest;
        }
        __syncthreads();
        largest = maxOver(scratch[0][lane & (ROUTER_THREADS / 32 - 1)], 32);
        float sum = 0.f;
        for (int e = threadIdx.x; e < experts; e += ROUTER_THREADS) {
            p[e] = expf(p[e] - largest);
            sum += p[e];
        }
        sum = sumOverBlock(sum, scratch[1]);
        for (int e = threadIdx.x; e < experts; e += ROUTER_THREADS) {
            p[e] /= sum;
        }
    } else {
        for (int e = threadIdx.x; e < experts; e += ROUTER_THREADS) {
            p[e] = 1.f / (1.f + expf(-p[e]));
        }
    }
    for (int e = threadIdx.x; e < experts; e += ROUTER_THREADS) {
        score[e] = bias != nullptr ? p[e] + bias[e] : p[e];
    }
    __syncthreads();
    const int size = experts / groups;
    if (groups > 1) {
        for (int g = threadIdx.x; g < groups; g += ROUTER_THREADS) {
            float first = score[g * size];
            float second = size > 1 ? __int_as_float(0xff800000) : 0.f;
            for (int i = 1; i < size; i++) {
                const float s = score[g * size + i];
                second = fmaxf(second, fminf(first, s));
                first = fmaxf(first, s);
            }
            ofGroup[g] = first + second;
        }
        __syncthreads();
        for (int g = threadIdx.x; g < groups; g += ROUTER_THREADS) {
            int place = 0;
            for (int i = 0; i < groups; i++) {
                place += before(ofGroup[i], i, ofGroup[g], g);
            }
            open[g] = place < groupsUsed;
        }
        __syncthreads();
    }
    for (int e = threadIdx.x; e < experts; e += ROUTER_THREADS) {
        if (groups > 1 && !open[e / size]) {
            continue;
        }
        int place = 0;
        for (int i = 0; i < experts; i++) {
            place += before(score[i], i, score[e], e) && (groups == 1 || open[i / size]);
        }
        if (place < used) {
            best[place] = e;
        }
    }
    __syncthreads();
    float sum = 1.f;
    if (normalise != 0) {
        sum = 0.f;
        for (int k = 0; k < used; k++) {
            sum += p[best[k]];
        }
        sum = fmaxf(sum, 1.f / 16384);
    }
    for (int k = threadIdx.x; k < used; k += ROUTER_THREADS) {
        chosen[(i64) blockIdx.x * used + k] = best[k];
        shares[(i64) blockIdx.x * used + k] = p[best[k]] / sum * scale;
    }
}

// out[t] = residual[t] + the sum over k of shares[t][k] * x[t][k]; residual may be null, or out. A block a row (x) and
// some columns (y).
extern "C" __global__ void weighted_sum(
        const float* x, const float* shares, const float* residual, float* out, int used, int width) {
    launchDependents();
    waitForInputs();
    const i64 t = blockIdx.x;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < width; i += gridDim.y * blockDim.x) {
        float sum = residual != nullptr ? residual[t * width + i] : 0.f;
#pragma unroll 4
        for (int k = 0; k < used; k++) {
            sum += shares[t * used + k] * x[(t * used + k) * width + i];
        }
        out[t * width + i] = sum;
    }
}

// Sum over the threads in front of each; the block is of GROUP_THREADS, and `scratch` is free after the next barrier.
DEVICE int sumBefore(int value, int* scratch) {
    const int lane = threadIdx.x & 31;
    int sum = value;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        const int other = __shfl_up_sync(FULL_WARP, sum, o);
        sum += lane >= o ? other : 0;
    }
    if (lane == 31) {
        scratch[threadIdx.x >> 5] = sum;
    }
    __syncthreads();
    int inFront = 0;
    for (int w = 0; w < (int) threadIdx.x >> 5; w++) {
        inFront += scratch[w];
    }
    return inFront + sum - value;
}

// The tokens of each expert, for the matmul (expert_matmul.cu).
//
//   order   [pairs]       numbers of choices (token * used + k), those of expert 0 first
//   tiles   [tileCount]   (expert, first, count, 0): up to `tile` choices of one expert, from order[first] on; behind the
//                         last one count is 0
extern "C" __global__ void __launch_bounds__(GROUP_THREADS)
    expert_groups(const float* chosen, int pairs, int experts, int tile, int* order, int4* tiles, int tileCount) {
    __shared__ int next[MOST_EXPERTS];
    __shared__ int scratch[2][GROUP_THREADS / 32];
    const int e = threadIdx.x;
    next[e] = 0;
    launchDependents();
    waitForInputs();
    __syncthreads();
    for (int i = threadIdx.x; i < pairs; i += GROUP_THREADS) {
        atomicAdd(&next[(int) chosen[i]], 1);
    }
    __syncthreads();
    const int count = next[e];
    const int first = sumBefore(count, scratch[0]);
    const int ofExpert = (count + tile - 1) / tile;
    const int firstTile = sumBefore(ofExpert, scratch[1]);
    next[e] = first;
    for (int i = 0; i < ofExpert; i++) {
        tiles[firstTile + i] = make_int4(e, first + i * tile, min(tile, count - i * tile), 0);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < pairs; i += GROUP_THREADS) {
        order[atomicAdd(&next[(int) chosen[i]], 1)] = i;
    }
    int all = 0;
    for (int w = 0; w < GROUP_THREADS / 32; w++) {
        all += scratch[1][w];
    }
    for (int i = all + threadIdx.x; i < tileCount; i += GROUP_THREADS) {
        tiles[i] = make_int4(0, 0, 0, 0);
    }
}
