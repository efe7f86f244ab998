// Many rows of activations by a float32 matrix, exactly: what the tensor cores' halves would round, such as the logits by
// which experts are chosen.
//
//   A block computes a tile of 64 tokens by 64 rows, a thread 4 by 4 of it. It walks along the columns in steps of 32:
//
//     x, weight (global) --> registers --transposed--> shared memory [32][64] each --> products
//
//   The next step is loaded while the products of one are made. Split-K: `splits` = gridDim.z blocks share a tile, each
//   with a range of steps; all write their sums to `partial`, and the last to arrive adds them in the order of the ranges.
#include "common.cuh"

constexpr int FLOAT_TILE = 64;
constexpr int FLOAT_STEP = 32;
constexpr int FLOAT_THREADS = 256;

struct FloatTile {
    float values[FLOAT_STEP][FLOAT_TILE + 4]; // a row stays at a multiple of 16 bytes
};

// Eight numbers of a thread: of rows threadIdx.x / 8 and 32 + threadIdx.x / 8, four columns from 4 (threadIdx.x % 8) on.
// Rows and columns that do not exist are zeros.
struct Eight {
    float v[2][4];

    DEVICE void load(const float* from, int first, int rows, int firstCol, int cols) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int row = first + 32 * i + (threadIdx.x >> 3);
            const int col = firstCol + 4 * (threadIdx.x & 7);
            const float* at = from + (i64) row * cols + col;
            if (row < rows && col + 4 <= cols && cols % 4 == 0) {
                const float4 four = *(const float4*) at;
                v[i][0] = four.x, v[i][1] = four.y, v[i][2] = four.z, v[i][3] = four.w;
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    v[i][j] = row < rows && col + j < cols ? at[j] : 0.f;
                }
            }
        }
    }

    DEVICE void store(FloatTile& tile) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                tile.values[4 * (threadIdx.x & 7) + j][32 * i + (threadIdx.x >> 3)] = v[i][j];
            }
        }
    }
};

// out[t][r] = weight[r] . x[t] + bias[r] + residual[t][r]; residual may be out
extern "C" __global__ void __launch_bounds__(FLOAT_THREADS)
    float_matmul(const float* x, int T, int cols, const float* weight, int rows, const float* bias,
            const float* residual, float* out, float* partial, u32* counter, int splits) {
    __shared__ FloatTile xs;
    __shared__ FloatTile ws;
    launchDependents();
    waitForInputs();
    const int firstToken = blockIdx.x * FLOAT_TILE;
    const int firstRow = blockIdx.y * FLOAT_TILE;
    const int steps = (cols + FLOAT_STEP - 1) / FLOAT_STEP;
    const int end = (int) ((i64) steps * (blockIdx.z + 1) / splits);
    const int a = 4 * (threadIdx.x >> 4); // first of the thread's tokens, and of its rows
    const int b = 4 * (threadIdx.x & 15);
    float sums[4][4] = {};
    Eight nextX;
    Eight nextW;
    int step = (int) ((i64) steps * blockIdx.z / splits);
    if (step < end) {
        nextX.load(x, firstToken, T, step * FLOAT_STEP, cols);
        nextW.load(weight, firstRow, rows, step * FLOAT_STEP, cols);
    }
    for (; step < end; step++) {
        __syncthreads();
        nextX.store(xs);
        nextW.store(ws);
        __syncthreads();
        if (step + 1 < end) {
            nextX.load(x, firstToken, T, (step + 1) * FLOAT_STEP, cols);
            nextW.load(weight, firstRow, rows, (step + 1) * FLOAT_STEP, cols);
        }
#pragma unroll 8
        for (int c = 0; c < FLOAT_STEP; c++) {
            const float4 v = *(const float4*) &xs.values[c][a];
            const float4 w = *(const float4*) &ws.values[c][b];
            const float t[4] = {v.x, v.y, v.z, v.w};
            const float r[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    sums[i][j] += t[i] * r[j];
                }
            }
        }
    }
    if (splits > 1) {
        const int tile = blockIdx.y * gridDim.x + blockIdx.x;
        const i64 stride = (i64) gridDim.x * gridDim.y * FLOAT_THREADS * 4;
        float4* parts = (float4*) partial + (i64) tile * FLOAT_THREADS * 4 + threadIdx.x;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            __stcg(parts + blockIdx.z * stride + i * FLOAT_THREADS,
                    make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]));
        }
        __threadfence();
        bool last = false;
        __syncthreads();
        if (threadIdx.x == 0) {
            last = atomicAdd(counter + tile, 1u) == splits - 1u;
        }
        if (!__syncthreads_or(last)) {
            return;
        }
        __threadfence();
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float4 all = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll 1
            for (int z = 0; z < splits; z++) {
                const float4 part = __ldcg(parts + z * stride + i * FLOAT_THREADS);
                all.x += part.x, all.y += part.y, all.z += part.z, all.w += part.w;
            }
            sums[i][0] = all.x, sums[i][1] = all.y, sums[i][2] = all.z, sums[i][3] = all.w;
        }
        if (threadIdx.x == 0) {
            counter[tile] = 0;
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int token = firstToken + a + i;
            const int row = firstRow + b + j;
            if (token < T && row < rows) {
                const i64 at = (i64) token * rows + row;
                out[at] = sums[i][j] + (bias != nullptr ? bias[row] : 0.f) + (residual != nullptr ? residual[at] : 0.f);
            }
        }
    }
}
