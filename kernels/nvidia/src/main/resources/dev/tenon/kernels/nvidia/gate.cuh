// The gates of experts: act(gate) * up, or gpt-oss' own.
#pragma once
#include "common.cuh"

// Numbers beside those of `activated`.
constexpr int NO_ACTIVATION = -1;
constexpr int SWIGLU_OAI = -2;

struct Gate {
    int activation;
    float alpha;
    float limit;

    DEVICE float operator()(float gate, float up) const {
        if (activation != SWIGLU_OAI) {
            return activated(gate, activation) * up;
        }
        const float a = fminf(gate, limit);
        const float b = fmaxf(-limit, fminf(up, limit));
        return __fdividef(a, 1.f + __expf(-alpha * a)) * (b + 1.f);
    }
};
