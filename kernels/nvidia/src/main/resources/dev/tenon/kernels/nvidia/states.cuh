// What ops with a state share: the rows of a sequence in a step, and rows of states that eight lanes hold.
#pragma once
#include "common.cuh"

struct alignas(16) Run {
    int first;
    int rows;
    int slot;
    int unused;
};

static DEVICE float softplus(float x) { return x > 20.f ? x : log1pf(expf(x)); }

constexpr int LANES = 8;                  // of a row of a state
constexpr int ROWS = 256 / LANES;         // that a block holds

// Four numbers of a row of a state, from number s on; those at its end are 0. `whole` rows need no look at the length.
DEVICE float4 loadFour(const float* state, int s, int length, bool whole) {
    float4 m;
    if (whole) {
        m = *(const float4*) (state + s);
    } else {
        m.x = s < length ? state[s] : 0.f;
        m.y = s + 1 < length ? state[s + 1] : 0.f;
        m.z = s + 2 < length ? state[s + 2] : 0.f;
        m.w = s + 3 < length ? state[s + 3] : 0.f;
    }
    return m;
}

DEVICE void storeFour(float* state, int s, int length, bool whole, float4 m) {
    if (whole) {
        *(float4*) (state + s) = m;
    } else {
        const float numbers[4] = {m.x, m.y, m.z, m.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (s + i < length) {
                state[s + i] = numbers[i];
            }
        }
    }
}
