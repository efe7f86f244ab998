// The walk of a launch over the rows of weights: every block takes an equal, contiguous share of the row groups, every
// group of lanes in it takes one row group after the other.
//
//   blocks       | share 0        | share 1        | ...
//   in a share   | lanes 0 | lanes 1 | ... | lanes 0 | lanes 1 | ...        `threadsPerRow` lanes, N rows a group
//   in a row     | unit of lane 0 | unit of lane 1 | ... | unit of lane 0 | ...
//
// Units travel through a ring of places in shared memory for each thread, each thread copying what it will read itself,
// so that no barrier is needed. A place is filled again as soon as it has been read. The first of all are asked for
// before the kernels in front have finished.
//
//   shared memory  | activations (product) | stage 0: pieces of 16 bytes of all threads | of 4 bytes | stage 1 ... |
//
// Where a half or more of a block's warps have no rows, the others use their places too.
#pragma once
#include "float_product.cuh"
#include "integer_product.cuh"

// Rows that a group of lanes works on at once: more rows share what is read of the activations, but take more registers
// and shared memory.
#ifndef TENON_ROWS
#define TENON_ROWS 2
#endif

// Stages of the ring. For one row of activations two kernels must fit beside each other, so that the next one can start
// and fill its ring early; that is worth more than a second stage.
template <int T>
constexpr int STAGES_OF = T == 1 ? 1 : 2;

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

// The places of a thread in the ring. A stage of STAGE bytes holds one place of each thread of the block, or, where at
// most a half or a quarter of the warps have rows, two or four of each of their threads.
template <int STAGE, int STAGES>
struct Ring {
    static constexpr int MOST = 4; // places of a thread

    u32 base;
    int places;
    int log; // of the places in a stage

    // busy: threads that have rows
    DEVICE Ring(u32 base, int busy) : base(base) {
        const int warps = (busy + 31) / 32;
        log = 128 * warps <= blockDim.x ? 2 : 64 * warps <= blockDim.x ? 1 : 0;
        places = min(MOST, STAGES << log);
    }

    // where the stage of a place begins, and whose place there it is
    DEVICE u32 stage(int place) const { return base + (place >> log) * STAGE; }

    DEVICE u32 thread(int place) const { return threadIdx.x + (place & ((1 << log) - 1)) * (blockDim.x >> log); }

    DEVICE int next(int place) const { return place + 1 == places ? 0 : place + 1; }

    // waits until the oldest copies have arrived
    DEVICE void wait() const {
        if (places == 1) {
            copiesWait<0>();
        } else if (places == 2) {
            copiesWait<1>();
        } else {
            copiesWait<3>();
        }
    }
};

// Multiplies the row groups of a share.
//
//   product                         of the kind P: what a lane does, see product.cuh
//   weights                         M of them, of one format
//   rowOf(group, n)                 the n-th row of a group
//   early(group, lane)              what `done` will need besides the sums; asked for before the products are made
//   done(group, lane, acc, before)  takes the finished sums acc[N][T] and what `early` gave; `lane` counts from 0 in the
//                                   group of lanes. Lane i has sum number i, i < N * T; of several weights, all sums
template <class P, int T, int N, int M, class RowOf, class Early, class Done>
static DEVICE void multiplyRowsBy(P& product, const Matrix (&weights)[M], Share share, int threadsPerRow, u8* shared,
        RowOf rowOf, Early early, Done done) {
    const Input& in = product.in;
    constexpr int UNIT16 = P::PIECES16 * 16 * TENON_BLOCK; // bytes of a unit of all threads
    constexpr int UNIT4 = P::PIECES4 * 4 * TENON_BLOCK;
    constexpr int STAGE = P::SPAN * N * (UNIT16 + UNIT4);
    const int units = P::unitCount(in.cols);
    const int lane = threadIdx.x & (threadsPerRow - 1);
    const int first = share.first + threadIdx.x / threadsPerRow;
    const int lanesGroups = blockDim.x / threadsPerRow;
    const int stride = threadsPerRow * P::SPAN;
    typename P::Weight pointers[M];
#pragma unroll
    for (int m = 0; m < M; m++) {
        pointers[m] = product.weight(weights[m].base, weights[m].rows, lane);
    }

    const Ring<STAGE, STAGES_OF<T>> ring(
            sharedAddress(shared) + P::sharedBytes(in.cols), (share.end - share.first) * threadsPerRow);
    auto slot = [&](int place, int s, int n) {
        const u32 stage = ring.stage(place);
        const u32 thread = ring.thread(place);
        return Slot{stage + 16 * thread + (s * N + n) * UNIT16,
                    stage + 4 * thread + P::SPAN * N * UNIT16 + (s * N + n) * UNIT4};
    };
    // where the copies are: as many steps in front of the products as there are places, so in the place just read
    int copyGroup = first;
    int copyFrom = lane;
    auto copyNext = [&](int place) {
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
                    product.copy(slot(place, s, n), weight, row.row, u, row.row < rows && u < units);
                }
            }
        }
        copiesEnd();
        copyFrom += stride;
        if (copyFrom - lane >= units) {
            copyFrom = lane;
            copyGroup += lanesGroups;
        }
    };
    for (int i = 0; i < ring.places; i++) {
        copyNext(i);
    }
    const typename P::Early soon = product.early();
    waitForInputs();
    float before = first < share.end ? early(first, lane) : 0.f;
    float factor[T];
    product.prepare(soon, factor);

    // all lanes of a warp go round together, as long as its first lanes have a group
    int place = 0;
    for (int group = first; group - (threadIdx.x & 31) / threadsPerRow < share.end; group += lanesGroups) {
        const bool there = group < share.end;
        float acc[N][T] = {};
        for (int from = 0; from < units; from += stride) {
            ring.wait();
#pragma unroll
            for (int s = 0; s < P::SPAN; s++) {
                const int u = from + s * threadsPerRow + lane;
                typename P::Lane lanes[N];
#pragma unroll
                for (int n = 0; n < N; n++) {
                    lanes[n] = product.lane(slot(place, s, n), rowOf(group, n).row, u);
                }
                if (s == P::SPAN - 1) {
                    copyNext(place);
                }
                product.add(lanes, min(u, units - 1), acc); // beyond the end: zeros times anything
            }
            place = ring.next(place);
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
        const int nextGroup = group + lanesGroups;
        before = nextGroup < share.end ? early(nextGroup, lane) : 0.f;
    }
}

// The same with the usual product of a format.
template <class F, int T, int N, int M, class RowOf, class Early, class Done>
static DEVICE void multiplyRows(const Input& in, const Matrix (&weights)[M], Share share, int threadsPerRow, u8* shared,
        RowOf rowOf, Early early, Done done) {
    Product<F, T> product(shared, in);
    multiplyRowsBy<Product<F, T>, T, N>(product, weights, share, threadsPerRow, shared, rowOf, early, done);
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
