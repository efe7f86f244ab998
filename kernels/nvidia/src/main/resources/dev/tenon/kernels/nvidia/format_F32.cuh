// F32: plain floats, as in GGUF.
#pragma once

struct F32 {
    static constexpr FormatKind KIND = ELEMENTS;
    static constexpr int BLOCK = 1;
    static constexpr int BYTES = 4;

    static DEVICE float decode(const u8* base, i64 i) { return ((const float*) base)[i]; }

    // 16 bytes to the weights in them
    static DEVICE void decodeVector(uint4 v, float* out) {
        const float4 f = asFloats(v);
        out[0] = f.x, out[1] = f.y, out[2] = f.z, out[3] = f.w;
    }
};
