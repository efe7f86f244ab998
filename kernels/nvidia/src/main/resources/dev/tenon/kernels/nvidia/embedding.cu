// Whole weights of one format: into the device's layout, rows of a table to floats, a tensor to f16.
#include "formats.cuh"

// The weights first .. first + 7 of row-major element `at`; a row of an ELEMENTS format may end before the eighth.
template <class F>
static DEVICE void eight(const u8* base, i64 blocks, i64 at, int left, float* out) {
    if constexpr (F::KIND == ELEMENTS) {
        for (int i = 0; i < 8; i++) {
            out[i] = i < left ? F::decode(base, at + i) : 0.f;
        }
    } else {
        F::decode8(base, blocks, at / F::BLOCK, (int) (at % F::BLOCK), out);
    }
}

// out[t] = table[tokens[t]]; a block of threads a row
extern "C" __global__ void TENON_ENTRY(embedding_, )(
        const u8* table, i64 tableRows, const int* tokens, float* out, int cols) {
    launchDependents();
    const i64 row = (i64) tokens[blockIdx.x] * cols;
    const i64 blocks = tableRows * cols / Format::BLOCK;
    waitForInputs();
    float* to = out + (i64) blockIdx.x * cols;
    for (int c = 8 * threadIdx.x; c < cols; c += 8 * blockDim.x) {
        float values[8];
        eight<Format>(table, blocks, row + c, cols - c, values);
        for (int i = 0; i < 8 && c + i < cols; i++) {
            to[c + i] = values[i];
        }
    }
}

// out[0 .. elements - 1] = the weights from firstElement on, as f16
extern "C" __global__ void TENON_ENTRY(dequantise_, )(
        const u8* weight, u16* out, i64 firstElement, i64 elements, i64 totalElements) {
    launchDependents();
    waitForInputs();
    const i64 step = 8ll * gridDim.x * blockDim.x;
    for (i64 e = 8 * ((i64) blockIdx.x * blockDim.x + threadIdx.x); e < elements; e += step) {
        float values[8];
        const int left = (int) (elements - e < 8 ? elements - e : 8);
        eight<Format>(weight, totalElements / Format::BLOCK, firstElement + e, left, values);
        for (int i = 0; i < left; i++) {
            out[e + i] = floatToHalf(values[i]);
        }
    }
}

template <class F>
static DEVICE void repackAll(const u8* in, u8* out, i64 blocks, i64 firstBlock, i64 totalBlocks) {
    if constexpr (F::KIND == INTEGERS) {
        if constexpr (F::REPACKED) {
            const i64 step = (i64) gridDim.x * blockDim.x;
            for (i64 b = (i64) blockIdx.x * blockDim.x + threadIdx.x; b < blocks; b += step) {
                F::repack(in + b * F::BYTES, out, totalBlocks, firstBlock + b);
            }
        }
    }
}

// `blocks` blocks as in GGUF become the blocks firstBlock .. of a tensor of totalBlocks in the device's layout; a
// thread a block. Does nothing for a format that is used as it is in GGUF.
extern "C" __global__ void TENON_ENTRY(repack_, )(
        const u8* in, u8* out, i64 blocks, i64 firstBlock, i64 totalBlocks) {
    repackAll<Format>(in, out, blocks, firstBlock, totalBlocks);
}
