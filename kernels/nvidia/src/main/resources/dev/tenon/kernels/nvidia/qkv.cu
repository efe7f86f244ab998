// The three projections in front of attention in one launch. Compiled for a pair of formats, as mixes often give the
// values more bits: -DTENON_FORMAT=Q4_K (queries and keys) -DTENON_FORMAT_V=Q6_K (values); they may be equal.
//
//   grid, formats differ   | blocks of queries and keys | blocks of values |      in proportion to their bytes
//   grid, one format       | blocks of all three |
#include "linear.cuh"

extern __shared__ uint4 sharedMemory[];

struct Projection {
    const u8* weight;
    const float* bias; // [rows], or null
    float* out;        // [T][rows]
    int rows;
};

// The row groups of M projections of one format, one projection behind the other.
template <class F, int T, int M>
static DEVICE void project(const Projection (&p)[M], const Input& in, int block, int blocks, int threadsPerRow) {
    constexpr int N = TENON_ROWS;
    Matrix weights[M];
    int begin[M]; // the first group of each
    int groups = 0;
#pragma unroll
    for (int m = 0; m < M; m++) {
        weights[m] = Matrix{p[m].weight, p[m].rows};
        begin[m] = groups;
        groups += (p[m].rows + N - 1) / N;
    }
    multiplyRows<F, T, N, M>(
            in, weights, Share(groups, block, blocks), threadsPerRow, (u8*) sharedMemory,
            [&](int group, int n) {
                Row row = {0, group * N + n};
#pragma unroll
                for (int m = 1; m < M; m++) {
                    row = group < begin[m] ? row : Row{m, (group - begin[m]) * N + n};
                }
                return row;
            },
            [](int, int) { return 0.f; },
            [&](int group, int lane, const float(&acc)[N][T], float) {
                int first = group * N;
                int rows = p[0].rows;
                const float* bias = p[0].bias;
                float* out = p[0].out;
#pragma unroll
                for (int m = 1; m < M; m++) {
                    const bool here = group >= begin[m];
                    first = here ? (group - begin[m]) * N : first;
                    rows = here ? p[m].rows : rows;
                    bias = here ? p[m].bias : bias;
                    out = here ? p[m].out : out;
                }
                eachSum(acc, lane, threadsPerRow, [&](int n, int t, float sum) {
                    const int row = first + n;
                    if (row < rows) {
                        out[(i64) t * rows + row] = bias != nullptr ? sum + bias[row] : sum;
                    }
                });
            });
}

// bytes of 256 weights; a format of somebody else counts like F16
template <class F>
static constexpr DEVICE int bytesOf256() {
    if constexpr (F::KIND == BLOCKS) {
        return 512;
    } else {
        return 256 * F::BYTES / F::BLOCK;
    }
}

template <class F, class V>
struct Same {
    static constexpr bool VALUE = false;
};
template <class F>
struct Same<F, F> {
    static constexpr bool VALUE = true;
};

template <class F, class V, int T>
static DEVICE void projectAll(const Projection& q, const Projection& k, const Projection& v, const Input& in,
        int threadsPerRow) {
    if constexpr (Same<F, V>::VALUE) {
        project<F, T, 3>({q, k, v}, in, blockIdx.x, gridDim.x, threadsPerRow);
    } else {
        const float bytesQk = (float) (q.rows + k.rows) * bytesOf256<F>();
        const float bytesV = (float) v.rows * bytesOf256<V>();
        int blocksV = __float2int_rn(gridDim.x * bytesV / (bytesQk + bytesV));
        blocksV = max(1, min((int) gridDim.x - 1, blocksV));
        const int blocksQk = gridDim.x - blocksV;
        if (blockIdx.x < blocksQk) {
            project<F, T, 2>({q, k}, in, blockIdx.x, blocksQk, threadsPerRow);
        } else {
            project<V, T, 1>({v}, in, blockIdx.x - blocksQk, blocksV, threadsPerRow);
        }
    }
}

#ifdef TENON_FORMAT_V_FILE
#include TENON_FORMAT_V_FILE
#endif
typedef Shaped<TENON_FORMAT_V>::Type FormatV;

#define QKV_NAME_(a, b, t) qkv_##a##_##b##_t##t
#define QKV_NAME(a, b, t) QKV_NAME_(a, b, t)
#define QKV(T)                                                                                                         \
    extern "C" __global__ void BOUNDS(T) QKV_NAME(TENON_FORMAT, TENON_FORMAT_V, T)(                                    \
            const u8* q, const u8* k, const u8* v, const float* x, const float* norm, float eps, const float* biasQ,   \
            const float* biasK, const float* biasV, float* outQ, float* outK, float* outV, int rowsQ, int rowsK,       \
            int rowsV, int cols, int threadsPerRow) {                                                                  \
        launchDependents();                                                                                            \
        projectAll<Format, FormatV, T>(Projection{q, biasQ, outQ, rowsQ}, Projection{k, biasK, outK, rowsK},           \
                Projection{v, biasV, outV, rowsV}, Input{x, norm, eps, cols}, threadsPerRow);                          \
    }

QKV(1)
QKV(2)
QKV(4)
QKV(8)
