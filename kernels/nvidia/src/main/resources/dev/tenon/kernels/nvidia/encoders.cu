// Ops of encoders of pictures and sounds, and of the models that take what these make.
#include "elementwise.cuh"

// out[t] = given[t], rows of `stride` elements, from its first on, where has[t] is not 0; else x[t], or 0 without x. No
// token has one where `has` is null. out may be x.
extern "C" __global__ void given_rows(const float* x, const int* has, const float* given, int stride, float* out,
        int width, i64 n) {
    forEach(n, out, [&](i64 i) {
        const i64 t = i / width;
        return has != nullptr && has[t] != 0 ? given[t * stride + i % width] : x != nullptr ? x[i] : 0.f;
    });
}

// out[l] = x[rows[l] - count + 1] .. x[rows[l]], side by side; a block a row
extern "C" __global__ void join_rows(const float* x, const int* rows, float* out, int width, int count) {
    launchDependents();
    const i64 first = max(rows[blockIdx.x] - count + 1, 0); // below 0 only in rows that nobody wants
    waitForInputs();
    for (int i = threadIdx.x; i < count * width; i += blockDim.x) {
        out[(i64) blockIdx.x * count * width + i] = x[first * width + i];
    }
}

// out[t][i * groups + g] = x[t][g * length + i]
extern "C" __global__ void transpose(const float* x, int groups, int length, float* out, i64 n) {
    const int width = groups * length;
    forEach(n, out, [&](i64 i) {
        const int at = (int) (i % width);
        return x[i - at + at % groups * length + at / groups];
    });
}

extern "C" __global__ void clamp(const float* x, float least, float most, float* out, i64 n) {
    forEach(n, out, [&](i64 i) { return fminf(fmaxf(x[i], least), most); });
}

extern "C" __global__ void xielu(
        const float* x, float alphaP, float alphaN, float beta, float eps, float* out, i64 n) {
    forEach(n, out, [&](i64 i) {
        const float v = x[i];
        return (v > 0.f ? alphaP * v * v : alphaN * (expm1f(fminf(v, eps)) - v)) + beta * v;
    });
}

// Each element becomes the mean of its group; a block a group.
extern "C" __global__ void group_mean(const float* x, float* out, int group) {
    __shared__ float scratch[32];
    launchDependents();
    waitForInputs();
    const i64 from = (i64) blockIdx.x * group;
    float sum = 0.f;
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        sum += x[from + i];
    }
    const float mean = sumOverBlock(sum, scratch) / group;
    for (int i = threadIdx.x; i < group; i += blockDim.x) {
        out[from + i] = mean;
    }
}

// out[t][i] = bias[i] + the sum over j of weight[i][j] * x[t - before + j][i], of rows of the same sequence. `bias` may
// be null.
extern "C" __global__ void centred_convolution(const float* x, const float* weight, const float* bias,
        const int* sequences, float* out, int width, int taps, int before, i64 n) {
    const int rows = (int) (n / width);
    forEach(n, out, [&](i64 i) {
        const int t = (int) (i / width);
        const int channel = (int) (i % width);
        float sum = bias != nullptr ? bias[channel] : 0.f;
        for (int j = 0; j < taps; j++) {
            const int row = t - before + j;
            if (row >= 0 && row < rows && sequences[row] == sequences[t]) {
                sum += weight[channel * taps + j] * x[(i64) row * width + channel];
            }
        }
        return sum;
    });
}

// out[t][c] = the sum over r of x[t][r] * weight[r][c]; a block 256 columns (x) of eight tokens (y)
extern "C" __global__ void transposed_linear(
        const float* x, const float* weight, float* out, int rows, int cols, int tokens) {
    constexpr int TOKENS = 8;
    constexpr int THREADS = 256;
    __shared__ float own[TOKENS][THREADS];
    launchDependents();
    waitForInputs();
    const int c = blockIdx.x * THREADS + threadIdx.x;
    const int first = blockIdx.y * TOKENS;
    float sum[TOKENS] = {};
    for (int from = 0; from < rows; from += THREADS) {
        const int count = min(THREADS, rows - from);
        for (int t = 0; t < TOKENS; t++) {
            const bool there = first + t < tokens && (int) threadIdx.x < count;
            own[t][threadIdx.x] = there ? x[(i64) (first + t) * rows + from + threadIdx.x] : 0.f;
        }
        __syncthreads();
        for (int r = 0; c < cols && r < count; r++) {
            const float w = weight[(i64) (from + r) * cols + c];
#pragma unroll
            for (int t = 0; t < TOKENS; t++) {
                sum[t] += own[t][r] * w;
            }
        }
        __syncthreads();
    }
    for (int t = 0; t < TOKENS && first + t < tokens && c < cols; t++) {
        out[(i64) (first + t) * cols + c] = sum[t];
    }
}
