// Q8_0: 32 signed bytes under one scale.
//
//   GGUF     | d:f16 | qs: int8[32] |  34 bytes a block          value[i] = d * qs[i]
//   device   | qs: int8[32] of every block ... | d: f16 of every block ... |
//
// On the device two blocks exchange halves, so that lanes which hold blocks side by side read whole sectors of 32 bytes:
//
//   blocks 2i, 2i + 1   | first 16 of 2i | first 16 of 2i + 1 | last 16 of 2i | last 16 of 2i + 1 |
//
// unless the tensor has an odd number of blocks.
#pragma once

struct Q8_0 {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 34;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 32;
    static constexpr int PIECES16 = 2;
    static constexpr int PIECES4 = 1;
    static constexpr bool PAIRS = true;

    struct Lane {
        uint4 q[2];
        u16 d;
    };

    // 1 if blocks exchange halves, else 0
    static DEVICE u32 pairs(i64 blocks) { return (u32) blocks & 1 ^ 1; }

    // where block `block` begins, in pieces of 16 bytes; its second half is 1 + pairs further on
    static DEVICE u32 sixteens(u32 block, u32 pairs) { return 2 * block - (block & pairs); }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int) { return base + blocks * 32; }

    static constexpr DEVICE int shift4(int) { return 1; }

    static DEVICE Lane lane(const uint4 (&p)[2], const u32 (&w)[1], u32 unit) {
        return Lane{{p[0], p[1]}, (u16) (unit & 1 ? w[0] >> 16 : w[0])};
    }

    static DEVICE uint4 levels(const Lane& lane, int, int i) { return lane.q[i]; }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const u32 pairs = Q8_0::pairs(blocks);
        const u64 half = sixteens((u32) block, pairs) + (first >> 4) * (1 + pairs);
        const i8* q = (const i8*) base + half * 16 + (first & 15);
        const float d = halfToFloat(((const u16*) (base + blocks * 32))[block]);
        for (int i = 0; i < 8; i++) {
            out[i] = d * q[i];
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        const u32 pairs = Q8_0::pairs(blocks);
        const u64 at = (u64) sixteens((u32) block, pairs) * 16;
        for (int i = 0; i < 32; i++) {
            base[at + (i >> 4) * 16 * (1 + pairs) + (i & 15)] = in[2 + i];
        }
        ((u16*) (base + blocks * 32))[block] = in[0] | in[1] << 8;
    }
};
