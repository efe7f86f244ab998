// A few rows of a weight times T rows of activations: what one lane does. linear.cuh walks over the rows with it.
//
// Two kinds, of one shape:
//
//   IntegerProduct   quantised formats. The activations are quantised first, by every block for itself: 32 at a time to
//                    signed bytes under one scale, kept in shared memory. Levels are multiplied as integers (dp4a).
//   FloatProduct     F32, F16, BF16 and formats of somebody else. Activations are read as they are (from the L1 cache).
//
//   UNIT         weights that a lane takes at once      SPAN   units it takes before it multiplies them
//   Weight       a weight as a lane looks at it: pointers to its own pieces; `weight` makes one, choose picks one of two
//   copy         starts copying a unit of a row to shared memory: PIECES16 times 16 and PIECES4 times 4 bytes
//   Lane, lane   the unit in registers, made of what was copied
//   early        what can be read before waitForInputs, for prepare
//   prepare      after waitForInputs: reads the activations, and leaves in `factor` what the sums must be multiplied
//                with: 1, or 1 / sqrt(mean(x^2) + eps) where a norm is part of the launch. Ends with a barrier.
//   add          acc[n][t] += lane[n] . x[t] (times the norm's weight), lane[n] being unit u of its row
#pragma once
#include "formats.cuh"

// Most threads of a block; places in shared memory are laid out for so many.
#ifndef TENON_BLOCK
#define TENON_BLOCK 512
#endif

// A thread's place in shared memory for the pieces of a unit. Threads side by side have their pieces side by side.
struct Slot {
    u32 pieces16;
    u32 pieces4;

    DEVICE u32 piece16(int i) const { return pieces16 + i * (16 * TENON_BLOCK); }

    DEVICE u32 piece4(int i) const { return pieces4 + i * (4 * TENON_BLOCK); }
};

// The activations of a launch.
struct Input {
    const float* x;    // [T][cols]
    const float* norm; // [cols], or null for no norm
    float eps;
    int cols;
};

// Adds up the squares that each warp found in a row and turns them into the norm's factor; perCol is 1 / cols.
template <int T>
static DEVICE void normFactors(const Input& in, const float (&squares)[T], float perCol, float (&factor)[T]) {
    constexpr int WARPS = (TENON_BLOCK / 32 + 3) / 4 * 4;
    __shared__ float4 partial[T][WARPS / 4];
    const int lane = threadIdx.x & 31;
    const int warps = blockDim.x >> 5;
    if (in.norm != nullptr) {
#pragma unroll
        for (int t = 0; t < T; t++) {
            float* to = (float*) partial[t];
            if (lane == 0) {
                to[threadIdx.x >> 5] = squares[t];
            }
            if (threadIdx.x < WARPS - warps) {
                to[warps + threadIdx.x] = 0.f;
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < T; t++) {
        factor[t] = 1.f;
        if (in.norm != nullptr) {
            float sum = 0.f;
#pragma unroll
            for (int i = 0; i < WARPS / 4; i++) {
                const float4 p = partial[t][i];
                sum += (p.x + p.y) + (p.z + p.w);
            }
            factor[t] = rsqrtf(sum * perCol + in.eps);
        }
    }
}
