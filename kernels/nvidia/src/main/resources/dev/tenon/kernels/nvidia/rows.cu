// Small kernels around the tensor-core matmul: its activations are halves.
#include "matmul.cuh"

// out[t] = x[t] / sqrt(mean(x[t]^2) + eps) * weight. One block of 256 threads a row; width is a multiple of 4.
extern "C" __global__ void __launch_bounds__(256)
    norm_f16(const float* x, const float* weight, float eps, u16* out, int width) {
    waitForInputs();
    launchDependents();
    const float4* row = (const float4*)(x + (i64)blockIdx.x * width);
    uint2* to = (uint2*)(out + (i64)blockIdx.x * width);
    float squares = 0;
    for (int i = threadIdx.x; i < width / 4; i += 256) {
        float4 v = row[i];
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    __shared__ float ofWarps[8];
    float factor = rsqrtf(sumOverBlock(squares, ofWarps) / width + eps);
    for (int i = threadIdx.x; i < width / 4; i += 256) {
        float4 v = row[i];
        float4 w = __ldg((const float4*)weight + i);
        to[i] = make_uint2(halvesClamped(v.x * factor * w.x, v.y * factor * w.y),
                           halvesClamped(v.z * factor * w.z, v.w * factor * w.w));
    }
}

// Halves of floats, limited to the largest half; n is a multiple of 4.
extern "C" __global__ void __launch_bounds__(256) to_f16(const float* x, u16* out, i64 n) {
    waitForInputs();
    launchDependents();
    for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n / 4; i += gridDim.x * 256ll) {
        float4 v = ((const float4*)x)[i];
        ((uint2*)out)[i] = make_uint2(halvesClamped(v.x, v.y), halvesClamped(v.z, v.w));
    }
}

// Floats of halves; n is a multiple of 4.
extern "C" __global__ void __launch_bounds__(256) to_f32(const u16* x, float* out, i64 n) {
    waitForInputs();
    launchDependents();
    for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n / 4; i += gridDim.x * 256ll) {
        uint2 v = ((const uint2*)x)[i];
        ((float4*)out)[i] = make_float4(lowHalf(v.x), highHalf(v.x), lowHalf(v.y), highHalf(v.y));
    }
}

// out = activation(gate) * up; n is a multiple of 4.
extern "C" __global__ void __launch_bounds__(256)
    gate_f16(const float* gate, const float* up, int activation, u16* out, i64 n) {
    waitForInputs();
    launchDependents();
    for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n / 4; i += gridDim.x * 256ll) {
        float4 g = ((const float4*)gate)[i];
        float4 v = ((const float4*)up)[i];
        float x = activated(g.x, activation) * v.x;
        float y = activated(g.y, activation) * v.y;
        float z = activated(g.z, activation) * v.z;
        float w = activated(g.w, activation) * v.w;
        ((uint2*)out)[i] = make_uint2(halvesClamped(x, y), halvesClamped(z, w));
    }
}
