// Q4_0: 32 four-bit levels under one scale.
//
//   GGUF     | d:f16 | qs: uint8[16] |  18 bytes a block         value[i]      = d * ((qs[i] & 15) - 8), i in 0..15
//   device   | qs: uint8[16] of every block ... | d: f16 ... |   value[i + 16] = d * ((qs[i] >> 4) - 8)
//
// A level is kept in the upper half of its byte with the sign bit turned, which is 16 * (level - 8).
#pragma once

struct Q4_0 {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 32;
    static constexpr int BYTES = 18;
    static constexpr int UNIT = 32;
    static constexpr int CHUNK = 32;
    static constexpr bool INTERLEAVED = false;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 0;
    static constexpr int STRIDE = 16;
    static constexpr int PIECES16 = 1;
    static constexpr int PIECES4 = 1;

    struct Lane {
        uint4 q;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int, int) { return base; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int) { return base + blocks * 16; }

    static constexpr DEVICE int shift4(int) { return 1; }

    static DEVICE Lane lane(const uint4 (&p)[1], const u32 (&w)[1], u32 unit) {
        return Lane{p[0], (u16) (unit & 1 ? w[0] >> 16 : w[0])};
    }

    static DEVICE u32 word(u32 q, int i) { return ((i == 0 ? q << 4 : q) & 0xf0f0f0f0u) ^ 0x80808080u; }

    static DEVICE uint4 levels(const Lane& lane, int, int i) {
        return make_uint4(word(lane.q.x, i), word(lane.q.y, i), word(lane.q.z, i), word(lane.q.w, i));
    }

    static DEVICE int scale(const Lane&, int, int) { return 1; }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d) * (1.f / 16); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const u8* q = base + block * 16 + (first & 15);
        const float d = halfToFloat(((const u16*) (base + blocks * 16))[block]);
        for (int i = 0; i < 8; i++) {
            out[i] = d * ((first < 16 ? q[i] & 15 : q[i] >> 4) - 8);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 16; i++) {
            base[block * 16 + i] = in[2 + i];
        }
        ((u16*) (base + blocks * 16))[block] = in[0] | in[1] << 8;
    }
};
