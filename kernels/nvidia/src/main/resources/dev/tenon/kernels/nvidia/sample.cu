// Choosing tokens on the device: the greatest logits of each row, top-p, min-p, temperature, draw. The chosen token
// becomes the next step's input where it lies, and goes to the host's memory as well.
//
//   logits [rows][width]   grid (slices of 1024 logits, rows)
//     each block: sorts what the row's mask has of its slice, writes its best k -> candidates [rows][slices][k]
//     the last block of a row: merges them, chooses one         -> tokens[row], positions[row] + 1, ids (host)
//     the last row: counts the step                             -> arrived (host)
#include "common.cuh"

#define SLICE 1024 // logits a block sorts
#define MERGED 4096 // candidates that are sorted at once
#define MOST 256 // most candidates that can be drawn from
#define BAD (~0ull) // rank of a logit that is NaN or positive infinity

// How a row chooses, 40 bytes in the step buffer.
struct Choice {
    float temperature; // 0: the best
    int topK;          // 1 .. MOST
    float topP;
    float minP;
    u64 seed;
    u64 drawn; // random numbers used so far
    int masked; // whether its mask says what may be chosen; else everything
    int unused;
};

// A logit and its index in one word that is greater for a greater logit, then for a lower index; 0 for negative
// infinity.
static DEVICE u64 rankOf(float value, int index) {
    const u32 bits = __float_as_uint(value + 0.f);
    if (!(value < __uint_as_float(0x7f800000u))) {
        return BAD;
    }
    if (bits == 0xff800000u) {
        return 0;
    }
    const u32 ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (u64) ordered << 32 | (0xffffffffu - (u32) index);
}

static DEVICE int indexOf(u64 rank) { return (int) (0xffffffffu - (u32) rank); }

static DEVICE float logitOf(u64 rank) {
    const u32 ordered = (u32) (rank >> 32);
    return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered);
}

static DEVICE bool has(const u32* mask, int i) { return mask[i / 32] >> i % 32 & 1; }

// Sorts `n` ranks (a power of two) in shared memory, the greatest first; bitonic.
static DEVICE void sortDown(u64* ranks, int n) {
    for (int size = 2; size <= n; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
                const int a = 2 * i - (i & (stride - 1));
                const int b = a + stride;
                const u64 u = ranks[a];
                const u64 v = ranks[b];
                if ((u < v) == ((a & size) == 0)) {
                    ranks[a] = v;
                    ranks[b] = u;
                }
            }
        }
    }
    __syncthreads();
}

// The greatest rank of the block, for thread 0.
static DEVICE u64 greatest(u64 rank, u64* scratch) {
    for (int o = 16; o > 0; o >>= 1) {
        rank = max(rank, __shfl_xor_sync(FULL_WARP, rank, o));
    }
    if (threadIdx.x % 32 == 0) {
        scratch[threadIdx.x / 32] = rank;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) {
            rank = max(rank, scratch[w]);
        }
    }
    return rank;
}

// The i-th number in 0 .. 1 of the sequence that starts with a seed, i from 0: SplitMix64, as java.util.SplittableRandom
// has it.
static DEVICE double randomNumber(u64 seed, u64 i) {
    u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return (double) (z >> 11) * 0x1p-53;
}

// Chooses among the best `count` ranks, which are in order. All threads call it; thread 0 gets the result.
static DEVICE u64 drawn(const u64* ranks, int count, const Choice& how, double* weights) {
    const double best = logitOf(ranks[0]);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        weights[i] = exp(logitOf(ranks[i]) - best);
    }
    __syncthreads();
    __shared__ int kept;
    if (threadIdx.x == 0) {
        int n = count;
        if (how.topP < 1.f) {
            double sum = 0;
            for (int i = 0; i < count; i++) {
                sum += weights[i];
            }
            double reached = 0;
            n = 0;
            while (n < count && (n == 0 || reached < how.topP)) {
                reached += weights[n++] / sum;
            }
        }
        if (how.minP > 0.f) {
            const double least = best + log((double) how.minP);
            while (n > 1 && logitOf(ranks[n - 1]) < least) {
                n--;
            }
        }
        kept = n;
    }
    __syncthreads();
    const float hottest = logitOf(ranks[0]) / how.temperature;
    for (int i = threadIdx.x; i < kept; i += blockDim.x) {
        weights[i] = exp((double) fmaxf(logitOf(ranks[i]) / how.temperature, -3.402823466e38f) - (double) hottest);
    }
    __syncthreads();
    if (threadIdx.x != 0 || !(fabsf(hottest) <= 3.402823466e38f)) {
        return ranks[0];
    }
    double sum = 0;
    for (int i = 0; i < kept; i++) {
        sum += weights[i];
    }
    double left = randomNumber(how.seed, how.drawn) * sum;
    for (int i = 0; i < kept; i++) {
        left -= weights[i];
        if (left < 0) {
            return ranks[i];
        }
    }
    return ranks[0];
}

// Merges the sorted candidates of all slices: the best `k` of a row stand in `ranks` in order afterwards.
static DEVICE void merge(const u64* candidates, int count, int k, u64* ranks) {
    int from = 0;
    for (int i = threadIdx.x; i < MOST; i += blockDim.x) {
        ranks[i] = 0;
    }
    while (from < count) {
        __syncthreads();
        for (int i = threadIdx.x; i < MERGED - MOST; i += blockDim.x) {
            ranks[MOST + i] = from + i < count ? candidates[from + i] : 0;
        }
        from += MERGED - MOST;
        sortDown(ranks, MERGED);
    }
}

// masks[rows][slices * SLICE / 32] is the host's memory, of which only the masks of masked rows are read: bit i % 32 of
// word i / 32 is set if logit i may be chosen. counters[rows + 1] is 0 before and after. `k` is the greatest topK of the rows. ids and arrived are the host's memory:
// ids[(step % ring)][rows], arrived[0] = steps done; steps[0] counts them here. A row in which nothing can be chosen,
// because a logit is not finite or all are negative infinity, gets id -1. A block of 512 threads.
extern "C" __global__ void choose(const float* logits, int width, Choice* choices, const u32* masks, int k,
        u64* candidates, u32* counters, const int* sequences, int* tokens, int* positions, int* steps, int* ids,
        int* arrived, int ring) {
    __shared__ u64 ranks[MERGED];
    __shared__ double weights[MOST];
    __shared__ u64 scratch[32];
    __shared__ u32 mask[SLICE / 32];
    __shared__ bool last;
    launchDependents();
    waitForInputs();
    const int slices = gridDim.x;
    const int rows = gridDim.y;
    const int row = blockIdx.y;
    const int first = blockIdx.x * SLICE;
    Choice how = choices[row];
    const int keep = how.temperature == 0.f ? 1 : how.topK;
    const float* from = logits + (i64) row * width;
    u64* own = candidates + ((i64) row * slices + blockIdx.x) * k;
    if (threadIdx.x < SLICE / 32) { // one read of 128 bytes
        const u32* bits = masks + ((i64) row * slices + blockIdx.x) * (SLICE / 32);
        mask[threadIdx.x] = how.masked ? bits[threadIdx.x] : ~0u;
    }
    __syncthreads();
    if (keep == 1) {
        u64 rank = 0;
        for (int i = threadIdx.x; i < SLICE && first + i < width; i += blockDim.x) {
            rank = max(rank, has(mask, i) ? rankOf(from[first + i], first + i) : 0);
        }
        rank = greatest(rank, scratch);
        if (threadIdx.x == 0) {
            own[0] = rank;
        }
    } else {
        for (int i = threadIdx.x; i < SLICE; i += blockDim.x) {
            ranks[i] = first + i < width && has(mask, i) ? rankOf(from[first + i], first + i) : 0;
        }
        sortDown(ranks, SLICE);
        for (int i = threadIdx.x; i < k; i += blockDim.x) {
            own[i] = i < keep ? ranks[i] : 0;
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicInc(&counters[row], slices - 1) == slices - 1;
    }
    __syncthreads();
    if (!last) {
        return;
    }
    __threadfence();
    const u64* all = candidates + (i64) row * slices * k;
    u64 chosen;
    if (keep == 1) {
        u64 rank = 0;
        for (int i = threadIdx.x; i < slices; i += blockDim.x) {
            rank = max(rank, all[(i64) i * k]);
        }
        chosen = greatest(rank, scratch);
    } else {
        merge(all, slices * k, k, ranks);
        int count = keep;
        while (count > 1 && ranks[count - 1] == 0) {
            count--;
        }
        chosen = ranks[0] == BAD ? BAD : drawn(ranks, count, how, weights);
    }
    if (threadIdx.x != 0) {
        return;
    }
    const int id = chosen == 0 || chosen == BAD ? -1 : indexOf(chosen);
    if (sequences[row] >= 0) {
        tokens[row] = max(id, 0);
        positions[row]++;
        choices[row].drawn = how.drawn + (how.temperature == 0.f ? 0 : 1);
    }
    const int step = steps[0];
    ids[(i64) (step % ring) * rows + row] = id;
    __threadfence_system();
    if (atomicInc(&counters[rows], rows - 1) == rows - 1) {
        steps[0] = step + 1;
        *(volatile int*) arrived = step + 1;
    }
}
