// The walk of a launch over the rows of weights: every block takes an equal, contiguous share of the row groups, every
// group of lanes in it takes one row group after the other.
//
//   blocks       | share 0        | share 1        | ...
//   in a share   | lanes 0 | lanes 1 | ... | lanes 0 | lanes 1 | ...        `threadsPerRow` lanes, N rows a group
//   in a row     | unit of lane 0 | unit of lane 1 | ... | unit of lane 0 | ...
//
// Units travel through a ring of STAGES places in shared memory for each thread, each thread copying what it will read
// itself, so that no barrier is needed. The first of all are asked for before the kernels in front have finished.
//
//   shared memory  | activations (product) | stage 0: pieces of 16 bytes of all threads | of 4 bytes | stage 1 ... |
#pragma once
#include "float_product.cuh"
#include "integer_product.cuh"

// Rows that a group of lanes works on at once: more rows share what is read of the activations, but take more registers
// and shared memory.
#ifndef TENON_ROWS
#define TENON_ROWS 2
#endif

// Places of the ring. Two kernels should fit beside each other, so that the next one can fill its ring early.
#ifndef TENON_STAGES
#define TENON_STAGES 2
#endif

// Registers: two blocks of one row of activations share a multiprocessor, one block of more rows has it for itself.
#define BOUNDS(T) __launch_bounds__(TENON_BLOCK, T == 1 ? 2 : 1)

template <FormatKind KIND, class F, int T>
struct ProductOf {
    typedef FloatProduct<F, T> Type;
};
template <class F, int T>
struct ProductOf<INTEGERS, F, T> {
    typedef IntegerProduct<F, T> Type;
};
template <class F, int T>
using Product = typename ProductOf<F::KIND, F, T>::Type;

// A weight of a launch, in the device's layout.
struct Matrix {
    const u8* base;
    int rows;
};

// A row of one of the launch's weights; a row behind its last counts as zeros.
struct Row {
    int weight;
    int row;
};

// The share of a block among `shares`.
struct Share {
    int first;
    int end;

    DEVICE Share(u32 groups, u32 share, u32 shares) {
        const u32 each = groups / shares;
        const u32 left = groups - each * shares;
        first = share * each + min(share, left);
        end = first + each + (share < left ? 1 : 0);
    }
};

// Multiplies the row groups of a share.
//
//   weights                         M of them, of one format
//   rowOf(group, n)                 the n-th row of a group
//   early(group, lane)              what `done` will need besides the sums; asked for before the products are made
//   done(group, lane, acc, before)  takes the finished sums acc[N][T] and what `early` gave; `lane` counts from 0 in the
//                                   group of lanes. Lane i has sum number i, i < N * T; of several weights, all sums
template <class F, int T, int N, int M, class RowOf, class Early, class Done>
static DEVICE void multiplyRows(const Input& in, const Matrix (&weights)[M], Share share, int threadsPerRow, u8* shared,
        RowOf rowOf, Early early, Done done) {
    typedef Product<F, T> P;
    constexpr int STAGES = TENON_STAGES;
    constexpr int UNIT16 = P::PIECES16 * 16 * TENON_BLOCK; // bytes of a unit of all threads
    constexpr int UNIT4 = P::PIECES4 * 4 * TENON_BLOCK;
    constexpr int STAGE = P::SPAN * N * (UNIT16 + UNIT4);
    P product(shared, in);
    const int units = P::unitCount(in.cols);
    const int lane = threadIdx.x & (threadsPerRow - 1);
    const int first = share.first + threadIdx.x / threadsPerRow;
    const int lanesGroups = blockDim.x / threadsPerRow;
    const int stride = threadsPerRow * P::SPAN;
    typename P::Weight pointers[M];
#pragma unroll
    for (int m = 0; m < M; m++) {
        pointers[m] = typename P::Weight(weights[m].base, weights[m].rows, in.cols, lane);
    }

    const u32 ring = sharedAddress(shared) + P::sharedBytes(in.cols);
    auto slot = [&](u32 stage, int s, int n) {
        return Slot{stage + 16 * threadIdx.x + (s * N + n) * UNIT16,
                    stage + 4 * threadIdx.x + P::SPAN * N * UNIT16 + (s * N + n) * UNIT4};
    };
    auto next = [&](u32 stage) { return stage == ring + (STAGES - 1) * STAGE ? ring : stage + STAGE; };
    // where the copies are: always STAGES - 1 steps in front of the products
    int copyGroup = first;
    int copyFrom = lane;
    u32 copyStage = ring;
    auto copyNext = [&] {
        if (copyGroup < share.end) {
#pragma unroll
            for (int n = 0; n < N; n++) {
                const Row row = rowOf(copyGroup, n);
                typename P::Weight weight = pointers[0];
                int rows = weights[0].rows;
#pragma unroll
                for (int m = 1; m < M; m++) {
                    weight = P::choose(row.weight == m, weight, pointers[m]);
                    rows = row.weight == m ? weights[m].rows : rows;
                }
#pragma unroll
                for (int s = 0; s < P::SPAN; s++) {
                    const int u = copyFrom + s * threadsPerRow;
                    product.copy(slot(copyStage, s, n), weight, row.row, u, row.row < rows && u < units);
                }
            }
        }
        copiesEnd();
        copyFrom += stride;
        if (copyFrom - lane >= units) {
            copyFrom = lane;
            copyGroup += lanesGroups;
        }
        copyStage = next(copyStage);
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        copyNext();
    }
    waitForInputs();
    float factor[T];
    product.prepare(factor);

    // all lanes of a warp go round together, as long as its first lanes have a group
    u32 stage = ring;
    for (int group = first; group - (threadIdx.x & 31) / threadsPerRow < share.end; group += lanesGroups) {
        const bool there = group < share.end;
        const float before = there ? early(group, lane) : 0.f;
        float acc[N][T] = {};
        for (int from = 0; from < units; from += stride) {
            copyNext();
            copiesWait<STAGES - 1>();
            if (there) {
#pragma unroll
                for (int s = 0; s < P::SPAN; s++) {
                    const int u = from + s * threadsPerRow + lane;
                    typename P::Lane lanes[N];
#pragma unroll
                    for (int n = 0; n < N; n++) {
                        lanes[n] = product.lane(slot(stage, s, n), rowOf(group, n).row, u);
                    }
                    product.add(lanes, min(u, units - 1), acc); // beyond the end: zeros times anything
                }
            }
            stage = next(stage);
        }
        if constexpr (N == 2 && T == 1) {
            const bool odd = (lane & 1) != 0;
            const float own = sumTwoOver(acc[0][0], acc[1][0], threadsPerRow, odd) * factor[0];
            const float other = M == 1 ? own : __shfl_xor_sync(FULL_WARP, own, 1); // a single weight's sums stay apart
            acc[0][0] = odd ? other : own;
            acc[1][0] = odd ? own : other;
        } else {
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int t = 0; t < T; t++) {
                    acc[n][t] = sumOver(acc[n][t], threadsPerRow) * factor[t];
                }
            }
        }
        if (there) {
            done(group, lane, acc, before);
        }
    }
}

// Calls store(n, t, sum) for each of the sums, each in the lane that looks after it.
template <int N, int T, class Store>
static DEVICE void eachSum(const float (&acc)[N][T], int lane, int threadsPerRow, Store store) {
    if constexpr (N * T <= 4) { // at least so many lanes
        if (lane < N * T) {
            float sum = acc[0][0];
#pragma unroll
            for (int i = 1; i < N * T; i++) {
                sum = lane == i ? acc[i / T][i % T] : sum;
            }
            store(lane / T, lane % T, sum);
        }
    } else {
#pragma unroll
        for (int i = 0; i < N * T; i++) {
            if (lane == (i & (threadsPerRow - 1))) {
                store(i / T, i % T, acc[i / T][i % T]);
            }
        }
    }
}
