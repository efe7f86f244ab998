// Made of the layout of Q4_1 (LayoutSource); a test compares it.
#pragma once
struct Q4_1 {
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 20;
    static constexpr int BITS = 4;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr int GROUP = 32;
    static constexpr bool SIGNED = false;
    static constexpr bool TABLE = false;
    static constexpr bool WHOLE = false;
    static constexpr bool SIGNED_SCALES = false;
    static constexpr bool MINIMUMS = true;
    static constexpr bool WHOLE_MINIMUMS = false;
    static constexpr bool FLOATS = false;
    static DEVICE constexpr float scaleUnit() {
        return 1.000000000e+00f;
    }
    static DEVICE constexpr float minimumUnit() {
        return 1.000000000e+00f;
    }
    static DEVICE u32 bitsOfLevel(const u8* in, int n) {
        return bitsAt(in, 32 + n / 1 % 16 * 8 + n / 16 % 2 * 4, 4) << 0;
    }
    static DEVICE int number(const u8* in, int i) {
        return (int) bitsOfLevel(in, i) - 0;
    }
    static DEVICE int level(const u8* in, int i) {
        return number(in, i) * 1 + 0;
    }
    static DEVICE u32 factorBits(const u8* in, int n) {
        return bitsAt(in, 0, 16) << 0;
    }
    static DEVICE float factor(const u8* in, int i) {
        return (1.000000000e+00f * halfToFloat((u16) factorBits(in, i / 32)) + 0.000000000e+00f);
    }
    static DEVICE u32 minimumFactorBits(const u8* in, int n) {
        return bitsAt(in, 16, 16) << 0;
    }
    static DEVICE float minimumFactor(const u8* in, int i) {
        return (-1.000000000e+00f * halfToFloat((u16) minimumFactorBits(in, i / 32)) + 0.000000000e+00f);
    }
    static DEVICE int scale(const u8* in, int i) {
        return 0;
    }
    static DEVICE int minimum(const u8* in, int i) {
        return 0;
    }
};
