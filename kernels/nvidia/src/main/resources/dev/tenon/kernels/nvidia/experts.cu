// Matrices of chosen experts times a few rows of activations. Compiled for one format: -DTENON_FORMAT=Q6_K.
//
//   weight   [experts][rows][cols] in the device's layout: the rows of all experts one after the other
//   chosen   [T][used], numbers of experts as floats
//
// A block multiplies with the matrices of one choice (blockIdx.y) of one token (blockIdx.z), so that only the chosen
// experts' bytes are read; those of expert_down add up all choices of a token. Which bytes that are is known only when
// the kernels in front have finished.
#include "gate.cuh"
#include "linear.cuh"

extern __shared__ uint4 sharedMemory[];

// Most choices whose results are added up in one launch.
constexpr int MOST_USED = 32;

// What the launches have in common.
struct Chosen {
    int pair;   // number of the choice among all of the step
    int expert;

    DEVICE Chosen(const float* chosen, int used)
        : pair(blockIdx.z * used + blockIdx.y), expert((int) chosen[blockIdx.z * used + blockIdx.y]) {}
};

// out[pair][r] = act(weight[expert][r] . x + bias[expert][r]); x is that of the token, or the pair's own
template <class F>
static DEVICE void expertLinear(const u8* weight, Input in, const float* chosen, const float* bias, float* out, int used,
        int own, int experts, int rows, int activation, int threadsPerRow) {
    constexpr int N = TENON_ROWS;
    const Chosen c(chosen, used);
    const int all = experts * rows;
    const int first = c.expert * rows;
    in.x += (i64) (own ? c.pair : blockIdx.z) * in.cols;
    multiplyRows<F, 1, N, 1>(
            in, {{weight, all}}, Share((rows + N - 1) / N, blockIdx.x, gridDim.x), threadsPerRow, (u8*) sharedMemory,
            [&](int group, int n) {
                const int row = group * N + n;
                return Row{0, row < rows ? first + row : all};
            },
            [](int, int) { return 0.f; },
            [&](int group, int lane, const float(&acc)[N][1], float) {
                eachSum(acc, lane, threadsPerRow, [&](int n, int, float sum) {
                    const int row = group * N + n;
                    if (row < rows) {
                        const float value = bias != nullptr ? sum + bias[first + row] : sum;
                        out[(i64) c.pair * rows + row] = activation == NO_ACTIVATION ? value : activated(value, activation);
                    }
                });
            });
}

// out[pair][r] = glu(gate[expert][r] . x + gateBias[expert][r], up[expert][r] . x + upBias[expert][r])
template <class F>
static DEVICE void expertGateUp(const u8* gate, const u8* up, Input in, const float* chosen, const float* gateBias,
        const float* upBias, float* out, int used, int experts, int rows, Gate glu, int threadsPerRow) {
    constexpr int N = TENON_ROWS > 1 ? TENON_ROWS / 2 : 1;
    const Chosen c(chosen, used);
    const int all = experts * rows;
    const int first = c.expert * rows;
    in.x += (i64) blockIdx.z * in.cols;
    multiplyRows<F, 1, 2 * N, 2>(
            in, {{gate, all}, {up, all}}, Share((rows + N - 1) / N, blockIdx.x, gridDim.x), threadsPerRow,
            (u8*) sharedMemory,
            [&](int group, int n) {
                const int row = group * N + n % N;
                return Row{n / N, row < rows ? first + row : all};
            },
            [](int, int) { return 0.f; },
            [&](int group, int lane, const float(&acc)[2 * N][1], float) {
                float product[N][1];
#pragma unroll
                for (int n = 0; n < N; n++) {
                    const int row = min(group * N + n, rows - 1);
                    const float g = gateBias != nullptr ? gateBias[first + row] : 0.f;
                    const float u = upBias != nullptr ? upBias[first + row] : 0.f;
                    product[n][0] = glu(acc[n][0] + g, acc[N + n][0] + u);
                }
                eachSum(product, lane, threadsPerRow, [&](int n, int, float value) {
                    const int row = group * N + n;
                    if (row < rows) {
                        out[(i64) c.pair * rows + row] = value;
                    }
                });
            });
}

// The product of a row that consists of the rows of all chosen experts, one after the other, each times its share.
// Activations stand in the same order, so that a unit of them is one of some expert's row.
template <class F>
struct DownProduct : Product<F, 1> {
    typedef Product<F, 1> Base;
    typedef typename Base::Lane Lane;
    typedef typename Base::Weight Weight;

    int rows;          // of all experts
    int width;         // of an expert's row
    int units;         // of an expert's row
    int used;
    float perUnit;     // experts a unit, and a little less than half a unit more
    const u32* first;  // unit of the tensor that would be unit 0 of row 0, for each chosen expert
    const float* share;

    DEVICE DownProduct(u8* shared, const Input& in, int rows, int used, const u32* first, const float* share)
        : Base(shared, in), rows(rows), width(in.cols / used), units(Base::unitCount(in.cols) / used), used(used),
          perUnit(1.f / units), first(first), share(share) {}

    // the choice that a unit belongs to
    DEVICE int choice(int u) const { return min((int) ((u + 0.5f) * perUnit), used - 1); }

    DEVICE u32 unit(int row, int u) const { return first[choice(u)] + (u32) (row * units + u); }

    DEVICE Weight weight(const u8* base, int, int lane) const { return Weight(base, rows, width, lane); }

    DEVICE void copy(const Slot& slot, const Weight& weight, int row, int u, bool there) const {
        if constexpr (F::KIND == INTEGERS) {
            Base::copy(slot, weight, 0, (int) unit(row, u), there);
        } else {
            Lane::copy(slot, weight.base, weight.blocks, (i64) unit(row, u), 0, Base::UNIT, true, there);
        }
    }

    DEVICE Lane lane(const Slot& slot, int row, int u) const { return Base::lane(slot, 0, (int) unit(row, u)); }

    template <int N>
    DEVICE void add(const Lane (&lane)[N], int u, float (&acc)[N][1]) const {
        float sums[N][1] = {};
        Base::add(lane, u, sums);
        const float by = share[choice(u)];
#pragma unroll
        for (int n = 0; n < N; n++) {
            acc[n][0] += by * sums[n][0];
        }
    }
};

// out[t][r] = residual[t][r] + sum over k of shares[t][k] * (weight[expert][r] . x[t][k] + bias[expert][r]); out may be
// residual. A row has whole units, and there are at most MOST_USED choices.
template <class F>
static DEVICE void expertDown(const u8* weight, Input in, const float* chosen, const float* shares, const float* bias,
        const float* residual, float* out, int used, int experts, int rows, int threadsPerRow) {
    constexpr int N = TENON_ROWS;
    __shared__ u32 first[MOST_USED];
    __shared__ float share[MOST_USED];
    __shared__ int expert[MOST_USED];
    const int t = blockIdx.y;
    in.x += (i64) t * in.cols;
    const int units = Product<F, 1>::unitCount(in.cols) / used;
    if (threadIdx.x < used) {
        const int k = threadIdx.x;
        expert[k] = (int) chosen[t * used + k];
        first[k] = (u32) expert[k] * rows * units - (u32) k * units;
        share[k] = shares[t * used + k];
    }
    __syncthreads();
    DownProduct<F> product((u8*) sharedMemory, in, experts * rows, used, first, share);
    multiplyRowsBy<DownProduct<F>, 1, N, 1>(
            product, {{weight, rows}}, Share((rows + N - 1) / N, blockIdx.x, gridDim.x), threadsPerRow,
            (u8*) sharedMemory, [&](int group, int n) { return Row{0, group * N + n}; },
            [&](int group, int lane) {
                const int row = group * N + lane;
                return residual != nullptr && N <= 4 && lane < N && row < rows ? residual[(i64) t * rows + row] : 0.f;
            },
            [&](int group, int lane, const float(&acc)[N][1], float before) {
                eachSum(acc, lane, threadsPerRow, [&](int n, int, float sum) {
                    const int row = group * N + n;
                    if (row < rows) {
                        float value = sum + before;
                        for (int k = 0; bias != nullptr && k < used; k++) {
                            value += share[k] * bias[expert[k] * rows + row];
                        }
                        out[(i64) t * rows + row] = value;
                    }
                });
            });
}

extern "C" __global__ void BOUNDS(1) TENON_ENTRY(expert_linear_, )(
        const u8* weight, const float* x, const float* norm, float eps, const float* chosen, const float* bias,
        float* out, int used, int own, int experts, int rows, int cols, int activation, int threadsPerRow) {
    launchDependents();
    waitForInputs();
    expertLinear<Format>(weight, Input{x, norm, eps, cols}, chosen, bias, out, used, own, experts, rows, activation,
            threadsPerRow);
}

extern "C" __global__ void BOUNDS(1) TENON_ENTRY(expert_gate_up_, )(
        const u8* gate, const u8* up, const float* x, const float* norm, float eps, const float* chosen,
        const float* gateBias, const float* upBias, float* out, int used, int experts, int rows, int cols,
        int activation, float alpha, float limit, int threadsPerRow) {
    launchDependents();
    waitForInputs();
    expertGateUp<Format>(gate, up, Input{x, norm, eps, cols}, chosen, gateBias, upBias, out, used, experts, rows,
            Gate{activation, alpha, limit}, threadsPerRow);
}

extern "C" __global__ void BOUNDS(1) TENON_ENTRY(expert_down_, )(
        const u8* weight, const float* x, const float* chosen, const float* shares, const float* bias,
        const float* residual, float* out, int used, int experts, int rows, int cols, int threadsPerRow) {
    launchDependents();
    waitForInputs();
    expertDown<Format>(weight, Input{x, nullptr, 0.f, used * cols}, chosen, shares, bias, residual, out, used, experts,
            rows, threadsPerRow);
}
