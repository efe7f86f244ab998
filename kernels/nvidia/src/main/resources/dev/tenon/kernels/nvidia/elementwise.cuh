// Kernels that work element by element.
#pragma once
#include "common.cuh"

// Element by element: out[i] = f(i) for i in 0 .. n - 1.
template <class Function>
static DEVICE void forEach(i64 n, float* out, Function f) {
    launchDependents();
    waitForInputs();
    const i64 step = (i64) gridDim.x * blockDim.x;
    for (i64 i = (i64) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        out[i] = f(i);
    }
}
