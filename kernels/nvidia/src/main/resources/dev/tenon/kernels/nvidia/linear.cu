// A weight times a few rows of activations (T = 1, 2, 4, 8), and what stands around it: norm in front, bias and
// residual or the gated activation behind. Compiled for one format: -DTENON_FORMAT=Q6_K.
#include "linear.cuh"

extern __shared__ uint4 sharedMemory[];

// out[t][r] = factor * (weight[r] . x[t] + bias[r]) + residual[t][r], activated unless `activation` is below 0; x normed
// first if there is a norm; residual may be out
template <class F, int T>
static DEVICE void linear(const u8* weight, const Input& in, const float* bias, const float* residual, float* out,
        int rows, int threadsPerRow, float factor, int activation) {
    constexpr int N = TENON_ROWS;
    auto summands = [&](int row, int t) {
        const float b = bias != nullptr ? factor * bias[row] : 0.f;
        return residual != nullptr ? b + residual[(i64) t * rows + row] : b;
    };
    multiplyRows<F, T, N, 1>(
            in, {{weight, rows}}, Share((rows + N - 1) / N, blockIdx.x, gridDim.x), threadsPerRow, (u8*) sharedMemory,
            [&](int group, int n) { return Row{0, group * N + n}; },
            [&](int group, int lane) {
                const int row = group * N + lane / T;
                return N * T <= 4 && lane < N * T && row < rows ? summands(row, lane % T) : 0.f;
            },
            [&](int group, int lane, const float(&acc)[N][T], float before) {
                eachSum(acc, lane, threadsPerRow, [&](int n, int t, float sum) {
                    const int row = group * N + n;
                    if (row < rows) {
                        const float value = factor * sum + (N * T <= 4 ? before : summands(row, t));
                        out[(i64) t * rows + row] = activation < 0 ? value : activated(value, activation);
                    }
                });
            });
}

// out[t][r] = act(gate[r] . x[t]) * (up[r] . x[t])
template <class F, int T>
static DEVICE void gateUp(const u8* gate, const u8* up, const Input& in, float* out, int rows, int threadsPerRow,
        int activation) {
    constexpr int N = TENON_ROWS > 1 ? TENON_ROWS / 2 : 1;
    multiplyRows<F, T, 2 * N, 2>(
            in, {{gate, rows}, {up, rows}}, Share((rows + N - 1) / N, blockIdx.x, gridDim.x), threadsPerRow,
            (u8*) sharedMemory, [&](int group, int n) { return Row{n / N, group * N + n % N}; },
            [](int, int) { return 0.f; },
            [&](int group, int lane, const float(&acc)[2 * N][T], float) {
                float product[N][T];
#pragma unroll
                for (int i = 0; i < N * T; i++) {
                    product[i / T][i % T] = activated(acc[i / T][i % T], activation) * acc[N + i / T][i % T];
                }
                eachSum(product, lane, threadsPerRow, [&](int n, int t, float value) {
                    const int row = group * N + n;
                    if (row < rows) {
                        out[(i64) t * rows + row] = value;
                    }
                });
            });
}

#define LINEAR(T)                                                                                                      \
    extern "C" __global__ void BOUNDS(T) TENON_ENTRY(linear_, _t##T)(                                                  \
            const u8* weight, const float* x, const float* norm, float eps, const float* bias, const float* residual,  \
            float* out, int rows, int cols, int threadsPerRow, float factor, int activation) {                         \
        launchDependents();                                                                                            \
        linear<Format, T>(                                                                                             \
                weight, Input{x, norm, eps, cols}, bias, residual, out, rows, threadsPerRow, factor, activation);      \
    }                                                                                                                  \
    extern "C" __global__ void BOUNDS(T) TENON_ENTRY(gate_up_, _t##T)(                                                 \
            const u8* gate, const u8* up, const float* x, const float* norm, float eps, float* out, int rows,          \
            int cols, int threadsPerRow, int activation) {                                                             \
        launchDependents();                                                                                            \
        gateUp<Format, T>(gate, up, Input{x, norm, eps, cols}, out, rows, threadsPerRow, activation);                  \
    }

LINEAR(1)
LINEAR(2)
LINEAR(4)
LINEAR(8)
