// Many rows of activations by the matrices of their experts, on the tensor cores: compile with -DTENON_FORMAT=Q6_K and the
// like. matmul.cuh says how a tile is computed; here a tile's tokens are choices of one expert, as expert_groups (router.cu)
// has ordered them. A block has a tile of choices (x) and a tile of 128 rows of the expert's matrix (y).
#include "gate.cuh"
#include "matmul.cuh"
#include "unit_layout.cuh"
#include "unit_nibbles.cuh"

#ifdef TENON_FORMAT_FILE
typedef UnitOf<Format>::Type FormatUnit;
#else
typedef TENON_JOIN3(Unit, TENON_FORMAT, ) FormatUnit;
#endif

template <int N> constexpr int BLOCKS_AT_ONCE = sizeof(FormatUnit) > 80 ? 1 : 2;

// The rows of x that belong to a tile's choices.
//
//   divisor   0: row i of x is that of the i-th choice in order
//             n: row i is that of the choices n * i .. n * i + n - 1
template <int TILE> struct ChoiceRows {
    static constexpr int ROWS_AT_ONCE = MATMUL_THREADS / 8;
    static constexpr int ROUNDS = (TILE + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;

    const u16* x;
    int rows[ROUNDS]; // of this thread; -1 where there is none

    DEVICE ChoiceRows(const u16* x, const int* order, const int4& tile, int divisor) : x(x) {
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            int at = (threadIdx.x >> 3) + i * ROWS_AT_ONCE;
            rows[i] = at >= tile.z ? -1 : divisor == 0 ? tile.y + at : order[tile.y + at] / divisor;
        }
    }

    template <int N> DEVICE void copy(u32 b, int firstCol, int cols) const {
        int token = threadIdx.x >> 3;
        int piece = threadIdx.x & 7;
        int col = firstCol + piece * 8;
        u32 to = b + pieceOffset(token, piece);
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            bool valid = rows[i] >= 0 && col < cols;
            if (N >= ROWS_AT_ONCE || token < N)
                copyAsync(to + i * ROWS_AT_ONCE * 128, valid ? x + (i64)rows[i] * cols + col : x, valid);
        }
    }
};

// What a launch has of the experts.
struct Choices {
    const int* order;
    const int4* tiles;
    int divisor; // of ChoiceRows
};

// out[choice][r] = act(w[expert][r] . x + bias[expert][r])
template <class Unit, int N>
DEVICE void expertMatmul(const u16* x, const Choices& choices, int cols, const u8* w, int experts, int rows,
                         const float* bias, int activation, float* out) {
    waitForInputs();
    const int4 tile = choices.tiles[blockIdx.x];
    if (tile.z == 0) return;
    int firstRow = blockIdx.y * TILE_ROWS;
    int own = tile.x * rows + min(firstRow + tileRow(), rows - 1);
    typename Unit::Row row(w, experts * rows, cols, own);
    ChoiceRows<N> tokens(x, choices.order, tile, choices.divisor);

    Sums<N> sums = {};
    sumChunks<Unit, N>(sums, row, tokens, cols, 0, (cols + CHUNK - 1) / CHUNK);
    int lane = threadIdx.x & 31;
    finish<N>(sums, nullptr, nullptr, 1, [&](int warp, int fragment, const float(&s)[4]) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = firstRow + Tile<N>::rowOf(warp, fragment, lane) + (e >> 1) * 8;
            int at = Tile<N>::tokenOf(warp, fragment, lane) + (e & 1);
            if (row < rows && at < tile.z) {
                float value = s[e] + (bias ? __ldg(bias + tile.x * rows + row) : 0);
                out[(i64)choices.order[tile.y + at] * rows + row] = activation == NO_ACTIVATION ? value : activated(value, activation);
            }
        }
    });
}

// out[i][r] = glu(gate[expert][r] . x + gateBias[expert][r], up[expert][r] . x + upBias[expert][r]) as halves, for the i-th
// choice in order. Rows of a tile as gateUp in matmul.cuh has them.
template <class Unit, int N>
DEVICE void expertGateUp(const u16* x, const Choices& choices, int cols, const u8* gate, const u8* up, int experts,
                         int rows, const float* gateBias, const float* upBias, Gate glu, u16* out) {
    waitForInputs();
    const int4 tile = choices.tiles[blockIdx.x];
    if (tile.z == 0) return;
    int firstRow = blockIdx.y * (TILE_ROWS / 2);
    int own = tile.x * rows + min(firstRow + tileRow() / 16 * 8 + tileRow() % 8, rows - 1);
    typename Unit::Row row(tileRow() & 8 ? up : gate, experts * rows, cols, own);
    ChoiceRows<N> tokens(x, choices.order, tile, choices.divisor);

    Sums<N> sums = {};
    sumChunks<Unit, N>(sums, row, tokens, cols, 0, (cols + CHUNK - 1) / CHUNK);
    int lane = threadIdx.x & 31;
    finish<N>(sums, nullptr, nullptr, 1, [&](int warp, int fragment, const float(&s)[4]) {
        int tileRow = Tile<N>::rowOf(warp, fragment, lane);
        int row = firstRow + tileRow / 16 * 8 + tileRow % 8;
        float g = gateBias && row < rows ? __ldg(gateBias + tile.x * rows + row) : 0;
        float u = upBias && row < rows ? __ldg(upBias + tile.x * rows + row) : 0;
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int at = Tile<N>::tokenOf(warp, fragment, lane) + e;
            if (row < rows && at < tile.z)
                out[(i64)(tile.y + at) * rows + row] = floatToHalf(clampToHalf(glu(s[e] + g, s[2 + e] + u)));
        }
    });
}

#define TENON_EXPERT_ENTRIES(N)                                                                                  \
    extern "C" __global__ void __launch_bounds__(MATMUL_THREADS, BLOCKS_AT_ONCE<N>)                              \
        TENON_ENTRY(expert_matmul_, _n##N)(const u16* x, const int* order, const int4* tiles, int divisor,       \
                                           int cols, const u8* w, int experts, int rows, const float* bias,      \
                                           int activation, float* out) {                                         \
        expertMatmul<FormatUnit, N>(x, {order, tiles, divisor}, cols, w, experts, rows, bias, activation, out);  \
    }                                                                                                            \
    extern "C" __global__ void __launch_bounds__(MATMUL_THREADS, BLOCKS_AT_ONCE<N>)                              \
        TENON_ENTRY(expert_matmul_gate_up_, _n##N)(                                                              \
            const u16* x, const int* order, const int4* tiles, int divisor, int cols, const u8* gate,            \
            const u8* up, int experts, int rows, const float* gateBias, const float* upBias, int activation,     \
            float alpha, float limit, u16* out) {                                                                \
        expertGateUp<FormatUnit, N>(x, {order, tiles, divisor}, cols, gate, up, experts, rows, gateBias, upBias, \
                                    {activation, alpha, limit}, out);                                            \
    }

TENON_EXPERT_ENTRIES(16)
TENON_EXPERT_ENTRIES(32)
TENON_EXPERT_ENTRIES(64)
TENON_EXPERT_ENTRIES(128)
