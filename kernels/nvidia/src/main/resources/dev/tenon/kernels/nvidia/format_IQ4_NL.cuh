// Made of the layout of IQ4_NL (LayoutSource); a test compares it.
#pragma once
struct IQ4_NL {
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 18;
    static constexpr int BITS = 4;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr int GROUP = 32;
    static constexpr bool SIGNED = true;
    static constexpr bool TABLE = true;
    static constexpr bool WHOLE = false;
    static constexpr bool SIGNED_SCALES = false;
    static constexpr bool MINIMUMS = false;
    static constexpr bool WHOLE_MINIMUMS = false;
    static constexpr bool FLOATS = false;
    static DEVICE constexpr float scaleUnit() {
        return 1.000000000e+00f;
    }
    static DEVICE constexpr float minimumUnit() {
        return 1.000000000e+00f;
    }
    static DEVICE u32 bitsOfLevel(const u8* in, int n) {
        return bitsAt(in, 16 + n / 1 % 16 * 8 + n / 16 % 2 * 4, 4) << 0;
    }
    static DEVICE i8 book(int i) {
        static const i8 all[] = {-127,-104,-83,-65,-49,-35,-22,-10,1,13,25,38,53,69,89,113};
        return all[i];
    }
    static DEVICE Table16 table() {
        return Table16{{0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}};
    }
    static DEVICE int level(const u8* in, int i) {
        return bitsOfLevel(in, i);
    }
    static DEVICE u32 factorBits(const u8* in, int n) {
        return bitsAt(in, 0, 16) << 0;
    }
    static DEVICE float factor(const u8* in, int i) {
        return (1.000000000e+00f * halfToFloat((u16) factorBits(in, i / 32)) + 0.000000000e+00f);
    }
    static DEVICE int scale(const u8* in, int i) {
        return 0;
    }
    static DEVICE int minimum(const u8* in, int i) {
        return 0;
    }
    static DEVICE float minimumFactor(const u8* in, int i) {
        return 0;
    }
};
