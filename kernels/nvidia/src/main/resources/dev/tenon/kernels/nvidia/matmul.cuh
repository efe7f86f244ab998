// Multiplies many rows of activations by a weight matrix on the tensor cores; weights are decoded on the way.
//
//     out[t][r] = sum over c of w[r][c] * x[t][c]
//
//   A block of 256 threads computes a tile of 128 weight rows by N tokens. It walks along c in steps of 64 columns, two
//   to a chunk of 128:
//
//     weights (global) --load--> registers --decode--> A: [128 rows][64] halves in shared memory --+
//                                                                                                  +--> tensor cores
//     x, f16 (global) ----------cp.async-------------> B: [N tokens][64] halves in shared memory --+    float sums in
//                                                                                                       registers
//   While the products of step s run, step s + 1 is decoded and later chunks are being loaded. With N up to 128, two
//   blocks or more share a multiprocessor, so that one multiplies while another decodes.
//
//   A row of a step is 128 bytes; its eight 16-byte pieces are swapped by the row's number, so that neither stores
//   nor matrix loads meet in one bank (the tensor cores' "128-byte swizzle"):
//
//     address(row, piece) = row * 128 + (piece ^ (row % 8)) * 16
//
//   The tile with N = 256 decodes a weight once for 256 tokens; it is for prefill.
//
//   Split-K: `splits` = gridDim.z blocks share a tile, each with a range of chunks. On Hopper and later they may form a
//   cluster; each then adds up a part of the tile, reading the others' sums from their shared memory. Otherwise all
//   write their sums to `partial`, and the last to arrive adds them. Both add in the order of the ranges, so that no
//   result depends on which block is first.
#pragma once
#include "unit.cuh"

constexpr int TILE_ROWS = 128;
constexpr int CHUNK = 128;
constexpr int STEP = 64;
constexpr int MATMUL_THREADS = 256;
constexpr int STAGES_A = 2;
constexpr u32 A_BYTES = TILE_ROWS * STEP * 2;

DEVICE u32 pieceOffset(int row, int piece) { return row * 128 + ((piece ^ (row & 7)) << 4); }

#if TENON_WGMMA
#include "wgmma.cuh"
#endif

template <int N> struct Tile {
    // The part of a tile whose sums a warp holds: MI x NJ fragments of 16 rows by 8 tokens. wgmma gives each warp 16
    // rows and all tokens.
    static constexpr int WARPS_N = TENON_WGMMA ? 1 : N >= 128 ? 4 : N == 64 ? 2 : 1;
    static constexpr int WARPS_M = 8 / WARPS_N;
    static constexpr int MI = TILE_ROWS / WARPS_M / 16;
    static constexpr int NJ = N / WARPS_N / 8;
    static constexpr int FRAGMENTS = MI * NJ;

    static constexpr u32 B_BYTES = N * STEP * 2;
    static constexpr int STAGES_B = 3;

    // Row and token, within the tile, of sum 0 of a warp's fragment; sums 0..3 are (row, token), (row, token + 1),
    // (row + 8, token), (row + 8, token + 1).
    static DEVICE int rowOf(int warp, int fragment, int lane) {
        return (warp / WARPS_N * MI + fragment / NJ) * 16 + (lane >> 2);
    }
    static DEVICE int tokenOf(int warp, int fragment, int lane) {
        return (warp % WARPS_N * NJ + fragment % NJ) * 8 + (lane & 3) * 2;
    }
};

template <int N> using Sums = float[Tile<N>::FRAGMENTS][4];

// The tile row that this thread decodes. Lanes 2i and 2i + 1 share a row; the eight lanes that store together have rows
// r, r + 1, r + 4, r + 5, whose pieces lie in different banks.
DEVICE int tileRow() {
    int lane = threadIdx.x & 31;
    return (threadIdx.x >> 5) * 16 + (lane >> 1 & 1) + (lane >> 2 & 1) * 4 + (lane >> 3 & 1) * 2 + (lane >> 4) * 8;
}

// The products of one step with mma.sync.
template <int N> DEVICE void multiplyStep(Sums<N>& sums, u32 a, u32 b) {
    using G = Tile<N>;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    int rowA = (warp / G::WARPS_N) * (G::MI * 16) + (lane & 15);
    int rowB = (warp % G::WARPS_N) * (G::NJ * 8) + (lane >> 4) * 8 + (lane & 7);
#pragma unroll
    for (int k = 0; k < STEP / 16; k++) {
        u32 fragA[G::MI][4];
        u32 fragB[G::NJ / 2][4];
#pragma unroll
        for (int i = 0; i < G::MI; i++)
            loadMatrices(fragA[i], a + pieceOffset(rowA + 16 * i, 2 * k + (lane >> 4)));
#pragma unroll
        for (int j = 0; j < G::NJ / 2; j++)
            loadMatrices(fragB[j], b + pieceOffset(rowB + 16 * j, 2 * k + (lane >> 3 & 1)));
#pragma unroll
        for (int i = 0; i < G::MI; i++)
#pragma unroll
            for (int j = 0; j < G::NJ; j++)
                multiply(sums[i * G::NJ + j], fragA[i], fragB[j / 2][j % 2 * 2], fragB[j / 2][j % 2 * 2 + 1]);
    }
}

// Rows of x that are a tile's tokens: N of `count`, from `first` on.
struct TokenRows {
    const u16* x;
    int first;
    int count;

    // Begins copying 64 columns of the rows to shared memory; rows and columns that do not exist become zeros.
    template <int N> DEVICE void copy(u32 b, int firstCol, int cols) const {
        constexpr int ROWS_AT_ONCE = MATMUL_THREADS / 8;
        int token = threadIdx.x >> 3;
        int piece = threadIdx.x & 7;
        int col = firstCol + piece * 8;
        const u16* from = x + (i64)(first + token) * cols + col;
        u32 to = b + pieceOffset(token, piece);
#pragma unroll
        for (int i = 0; i < (N + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE; i++) {
            bool valid = first + token + i * ROWS_AT_ONCE < count && col < cols;
            if (N >= ROWS_AT_ONCE || token < N) copyAsync(to + i * ROWS_AT_ONCE * 128, valid ? from : x, valid);
            from += ROWS_AT_ONCE * cols;
        }
    }
};

// Decodes one step of this thread's unit, two groups of it, into shared memory. `to` is where piece 2u of the thread's
// row stands; piece p + 1 is 16 bytes away from piece p, up or down, and p + 4 is 64.
template <class Unit> DEVICE void decodeStep(u32 to, const Unit& raw, int u, int chunk, int part) {
    uint2 v[2][4];
    raw.decode(chunk, u, part, v);
#pragma unroll
    for (int g = 0; g < 2; g++) {
        storeShared(to ^ (64 * g), make_uint4(v[g][0].x, v[g][0].y, v[g][1].x, v[g][1].y));
        storeShared(to ^ (64 * g + 16), make_uint4(v[g][2].x, v[g][2].y, v[g][3].x, v[g][3].y));
    }
}

// Shared memory of a block: STAGES_A steps of weights, STAGES_B steps of x; after the last step, the sums.
DEVICE u32 sharedBase() {
    extern __shared__ u8 shared[];
    return (sharedAddress(shared) + 1023) & ~1023u;
}

// Computes the sums of this block's chunks; this thread decodes `row`. Tokens are rows of x, as TokenRows.
template <class Unit, int N, class Tokens>
DEVICE void sumChunks(Sums<N>& sums, const typename Unit::Row& row, const Tokens& tokens, int cols, int firstChunk,
                      int endChunk) {
    using G = Tile<N>;
    // How many chunks of raw weights a thread has in registers or on their way: as many as the sums leave room for.
    constexpr int FITTING = 256 / sizeof(Unit) < 1 ? 1 : 256 / sizeof(Unit) > 4 ? 4 : 256 / sizeof(Unit);
    constexpr int DEPTH = N >= 128 ? 1 : N == 64 && FITTING > 2 ? 2 : FITTING;
    u32 stagesA = sharedBase();
    u32 stagesB = stagesA + STAGES_A * A_BYTES;
    int u = threadIdx.x & 1;
    u32 ownPiece = pieceOffset(tileRow(), 2 * u);
    int endStep = (endChunk - firstChunk) * 2;

    Unit raw[DEPTH];
    auto load = [&](Unit& to, int chunk) {
        if (chunk < endChunk) to.load(row, chunk, u, cols);
    };
    int copyStage = 0;
    auto copy = [&](int step) {
        if (step < endStep)
            tokens.template copy<N>(stagesB + copyStage * G::B_BYTES, firstChunk * CHUNK + step * STEP, cols);
        copiesEnd();
        copyStage = copyStage + 1 == G::STAGES_B ? 0 : copyStage + 1;
    };

#pragma unroll
    for (int d = 0; d < DEPTH; d++) load(raw[d], firstChunk + d);
    waitForInputs();
    launchDependents();
#pragma unroll
    for (int s = 0; s < G::STAGES_B - 1; s++) copy(s);
    if (firstChunk < endChunk) decodeStep(stagesA + ownPiece, raw[0], u, firstChunk, 0);

    int step = 0;
    int stageB = 0;
    // Between begin and end of a step, an even or an odd one, the step after it is decoded into the other stage.
    auto begin = [&](int stageA) {
        copiesWait<G::STAGES_B - 2>();
#if TENON_WGMMA
        fenceForTensorCores();
        __syncthreads();
        startStep<N>(sums, stagesA + stageA * A_BYTES, stagesB + stageB * G::B_BYTES);
#else
        __syncthreads();
#endif
        copy(step + G::STAGES_B - 1);
    };
    auto end = [&](int stageA) {
#if TENON_WGMMA
        waitForStep<N>(sums);
#else
        multiplyStep<N>(sums, stagesA + stageA * A_BYTES, stagesB + stageB * G::B_BYTES);
#endif
        stageB = stageB + 1 == G::STAGES_B ? 0 : stageB + 1;
        step++;
    };
#pragma unroll 1
    for (int chunk = firstChunk; chunk < endChunk; chunk += DEPTH) {
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            if (chunk + d < endChunk) {
                begin(0);
                decodeStep(stagesA + A_BYTES + ownPiece, raw[d], u, chunk + d, 1);
                load(raw[d], chunk + d + DEPTH);
                end(0);
                begin(1);
                if (chunk + d + 1 < endChunk) decodeStep(stagesA + ownPiece, raw[(d + 1) % DEPTH], u, chunk + d + 1, 0);
                end(1);
            }
        }
    }
}

// ---- split-K -----------------------------------------------------------------------------------------------------

DEVICE int clusterSize() {
#if __CUDA_ARCH__ >= 900
    int size;
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(size));
    return size;
#else
    return 1;
#endif
}

DEVICE void syncCluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// 16 bytes of the shared memory of block `rank` of the cluster, at this block's address.
DEVICE float4 loadOfCluster(u32 address, int rank) {
    float4 v = make_float4(0, 0, 0, 0);
#if __CUDA_ARCH__ >= 900
    u32 remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(remote)
                 : "memory");
#endif
    return v;
}

DEVICE void addTo(float (&total)[4], float4 v) {
    total[0] += v.x;
    total[1] += v.y;
    total[2] += v.z;
    total[3] += v.w;
}

// Hands the finished sums to `emit(warp, fragment, sums)`, in this block alone or shared out over those of a cluster;
// whole warps call it.
template <int N, class Emit> DEVICE void finish(Sums<N>& sums, float* partial, u32* counter, int splits, Emit emit) {
    constexpr int FRAGMENTS = Tile<N>::FRAGMENTS;
    int warp = threadIdx.x >> 5;
    int lane = threadIdx.x & 31;
    if (splits > 1 && clusterSize() == splits) {
        u32 base = sharedBase();
        __syncthreads();
#pragma unroll
        for (int f = 0; f < FRAGMENTS; f++) {
            uint4 bits = make_uint4(__float_as_uint(sums[f][0]), __float_as_uint(sums[f][1]),
                                    __float_as_uint(sums[f][2]), __float_as_uint(sums[f][3]));
            storeShared(base + (f * MATMUL_THREADS + threadIdx.x) * 16, bits);
        }
        syncCluster();
        // Fragments of all warps, counted through, are dealt to the blocks' warps in turn.
#pragma unroll 1
        for (int i = blockIdx.z * 8 + warp; i < FRAGMENTS * 8; i += splits * 8) {
            float total[4] = {0, 0, 0, 0};
#pragma unroll 2
            for (int z = 0; z < splits; z++) addTo(total, loadOfCluster(base + (i * 32 + lane) * 16, z));
            emit(i & 7, i >> 3, total);
        }
        syncCluster();    // nobody ends while others read its sums
        return;
    }
    if (splits > 1) {
        int tile = blockIdx.y * gridDim.x + blockIdx.x;
        i64 stride = (i64)gridDim.x * gridDim.y * FRAGMENTS * MATMUL_THREADS;
        float4* parts = (float4*)partial + (i64)tile * FRAGMENTS * MATMUL_THREADS + threadIdx.x;
#pragma unroll
        for (int f = 0; f < FRAGMENTS; f++)
            __stcg(parts + blockIdx.z * stride + f * MATMUL_THREADS,
                   make_float4(sums[f][0], sums[f][1], sums[f][2], sums[f][3]));
        __threadfence();
        bool last = false;
        __syncthreads();
        if (threadIdx.x == 0) last = atomicAdd(counter + tile, 1u) == splits - 1u;
        if (!__syncthreads_or(last)) return;
        __threadfence();
#pragma unroll
        for (int f = 0; f < FRAGMENTS; f++) {
#pragma unroll
            for (int e = 0; e < 4; e++) sums[f][e] = 0;
#pragma unroll 1
            for (int z = 0; z < splits; z++) addTo(sums[f], __ldcg(parts + z * stride + f * MATMUL_THREADS));
        }
        if (threadIdx.x == 0) counter[tile] = 0;
    }
#pragma unroll
    for (int f = 0; f < FRAGMENTS; f++) emit(warp, f, sums[f]);
}

DEVICE int firstChunkOf(int split, int splits, int cols) {
    int chunks = (cols + CHUNK - 1) / CHUNK;
    return (int)((i64)chunks * split / splits);
}

// ---- the two kernels ---------------------------------------------------------------------------------------------

// One of several stacked weights, and which of its tiles this block has.
struct Part {
    const u8* weight;
    const float* bias;
    float* out;
    int rows;
    int tile;
};

template <class Unit, int N>
DEVICE void matmul(const u16* x, int T, int cols, Part part, const float* residual, float* partial, u32* counter,
                   int splits) {
    int firstRow = part.tile * TILE_ROWS;
    typename Unit::Row row(part.weight, part.rows, cols, min(firstRow + tileRow(), part.rows - 1));

    Sums<N> sums = {};
    sumChunks<Unit, N>(sums, row, TokenRows{x, (int)blockIdx.x * N, T}, cols, firstChunkOf(blockIdx.z, splits, cols),
                       firstChunkOf(blockIdx.z + 1, splits, cols));
    int lane = threadIdx.x & 31;
    finish<N>(sums, partial, counter, splits, [&](int warp, int fragment, const float(&s)[4]) {
        int firstToken = blockIdx.x * N + Tile<N>::tokenOf(warp, fragment, lane);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = firstRow + Tile<N>::rowOf(warp, fragment, lane) + (e >> 1) * 8;
            int token = firstToken + (e & 1);
            if (row < part.rows && token < T) {
                i64 at = (i64)token * part.rows + row;
                part.out[at] = s[e] + (part.bias ? __ldg(part.bias + row) : 0) + (residual ? residual[at] : 0);
            }
        }
    });
}

// The tile takes its rows from both weights in turn, eight each: rows 0..7 of sixteen are of `gate`, 8..15 of `up`.
// A thread's sums of rows g and g + 8 are then both factors of one result.
template <class Unit, int N>
DEVICE void gateUp(const u16* x, int T, int cols, const u8* gate, const u8* up, int rowCount, int activation, u16* out,
                   float* partial, u32* counter, int splits) {
    int firstRow = blockIdx.y * (TILE_ROWS / 2);
    int ownRow = firstRow + tileRow() / 16 * 8 + tileRow() % 8;
    typename Unit::Row row(tileRow() & 8 ? up : gate, rowCount, cols, min(ownRow, rowCount - 1));

    Sums<N> sums = {};
    sumChunks<Unit, N>(sums, row, TokenRows{x, (int)blockIdx.x * N, T}, cols, firstChunkOf(blockIdx.z, splits, cols),
                       firstChunkOf(blockIdx.z + 1, splits, cols));
    int lane = threadIdx.x & 31;
    bool odd = lane & 4;
    finish<N>(sums, partial, counter, splits, [&](int warp, int fragment, const float(&s)[4]) {
        float first = activated(s[0], activation) * s[2];
        float second = activated(s[1], activation) * s[3];
        // Neighbours in rows swap, so that each has two rows of one token and stores them as one word.
        float other = __shfl_xor_sync(FULL_WARP, odd ? first : second, 4);
        u32 two = odd ? halvesClamped(other, second) : halvesClamped(first, other);
        int tileRow = Tile<N>::rowOf(warp, fragment, lane);
        int row = firstRow + tileRow / 16 * 8 + tileRow % 8;
        int token = blockIdx.x * N + Tile<N>::tokenOf(warp, fragment, lane) + odd;
        if (row < rowCount && token < T) *(u32*)(out + (i64)token * rowCount + (row & ~1)) = two;
    });
}
