// BF16: the upper halves of floats, as in GGUF.
#pragma once

struct BF16 {
    static constexpr FormatKind KIND = ELEMENTS;
    static constexpr int BLOCK = 1;
    static constexpr int BYTES = 2;

    static DEVICE float decode(const u8* base, i64 i) { return bfloatToFloat(((const u16*) base)[i]); }

    // 16 bytes to the weights in them
    static DEVICE void decodeVector(uint4 v, float* out) {
        const u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            out[2 * i] = __uint_as_float(words[i] << 16);
            out[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
        }
    }
};
