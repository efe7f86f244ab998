// Entries of the matmul for one weight format: compile with -DTENON_FORMAT=Q6_K and the like (formats.cuh). matmul.cuh
// says how it works.
#include "matmul.cuh"
#include "unit_layout.cuh"
#include "unit_nibbles.cuh"

#ifdef TENON_FORMAT_FILE
typedef UnitOf<Format>::Type FormatUnit;
#else
typedef TENON_JOIN3(Unit, TENON_FORMAT, ) FormatUnit;
#endif

// Blocks that shall share a multiprocessor, which limits registers; large units need them all.
constexpr int BLOCKS_AT_ONCE = sizeof(FormatUnit) > 80 ? 1 : 2;

// Up to three weights of one format multiply the same x; a block finds its weight by its tile's number.
DEVICE Part partOf(int tile, Part part0, Part part1, Part part2) {
    int tiles0 = (part0.rows + TILE_ROWS - 1) / TILE_ROWS;
    int tiles1 = (part1.rows + TILE_ROWS - 1) / TILE_ROWS;
    Part part = tile < tiles0 ? part0 : tile < tiles0 + tiles1 ? part1 : part2;
    part.tile = tile < tiles0 ? tile : tile < tiles0 + tiles1 ? tile - tiles0 : tile - tiles0 - tiles1;
    return part;
}

#define TENON_MATMUL_ENTRY(NAME, N, BLOCKS)                                                                   \
    extern "C" __global__ void __launch_bounds__(MATMUL_THREADS, BLOCKS)                                      \
        NAME(const u16* x, int T, int cols, const u8* w0, const u8* w1, const u8* w2, int rows0, int rows1,   \
             int rows2, const float* bias0, const float* bias1, const float* bias2, const float* residual,    \
             float* out0, float* out1, float* out2, float* partial, u32* counter, int splits) {               \
        Part part = partOf(blockIdx.y, {w0, bias0, out0, rows0, 0}, {w1, bias1, out1, rows1, 0},              \
                           {w2, bias2, out2, rows2, 0});                                                      \
        matmul<FormatUnit, N>(x, T, cols, part, residual, partial, counter, splits);                          \
    }

#define TENON_GATE_UP_ENTRY(NAME, N, BLOCKS)                                                                  \
    extern "C" __global__ void __launch_bounds__(MATMUL_THREADS, BLOCKS)                                      \
        NAME(const u16* x, int T, int cols, const u8* gate, const u8* up, int rows, int activation, u16* out, \
             float* partial, u32* counter, int splits) {                                                      \
        gateUp<FormatUnit, N>(x, T, cols, gate, up, rows, activation, out, partial, counter, splits);         \
    }

#define TENON_ENTRIES(SUFFIX, N, BLOCKS)                                                                      \
    TENON_MATMUL_ENTRY(TENON_ENTRY(matmul_, SUFFIX), N, BLOCKS)                                               \
    TENON_GATE_UP_ENTRY(TENON_ENTRY(matmul_gate_up_, SUFFIX), N, BLOCKS)

TENON_ENTRIES(_n16, 16, BLOCKS_AT_ONCE)
TENON_ENTRIES(_n32, 32, BLOCKS_AT_ONCE)
TENON_ENTRIES(_n64, 64, BLOCKS_AT_ONCE)
TENON_ENTRIES(_n128, 128, BLOCKS_AT_ONCE)
TENON_ENTRIES(_n128_alone, 128, 1) // for launches that have no more blocks than the device has multiprocessors
TENON_ENTRIES(_n256, 256, 1)
