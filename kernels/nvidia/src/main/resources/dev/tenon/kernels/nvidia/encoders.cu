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
