// F16: IEEE half precision, as in GGUF.
#pragma once

struct F16 {
    static constexpr FormatKind KIND = ELEMENTS;
    static constexpr int BLOCK = 1;
    static constexpr int BYTES = 2;

    static DEVICE float decode(const u8* base, i64 i) { return halfToFloat(((const u16*) base)[i]); }

    // 16 bytes to the weights in them
    static DEVICE void decodeVector(uint4 v, float* out) {
        out[0] = lowHalf(v.x), out[1] = highHalf(v.x), out[2] = lowHalf(v.y), out[3] = highHalf(v.y);
        out[4] = lowHalf(v.z), out[5] = highHalf(v.z), out[6] = lowHalf(v.w), out[7] = highHalf(v.w);
    }
};
