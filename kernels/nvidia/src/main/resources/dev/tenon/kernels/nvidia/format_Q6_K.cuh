// Q6_K: 256 six-bit levels, sixteen sub-blocks of 16 with a signed 8-bit scale each.
//
//   GGUF     | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |      210 bytes a block, so 2-byte aligned
//   device   | planes a, b, c: uint8[3][64] of every block ... | scales: int8[16] ... | d: f16 ... |
//
//   value[i] = d * scales[i / 16] * (q[i] - 32);
//   for h, s in 0..1, p in 0..3 and l in 0..15, i = 128h + 32p + 16s + l:
//   q[i] = (ql[64h + 32(p & 1) + 16s + l] >> 4(p / 2) & 15) | (qh[32h + 16s + l] >> 2p & 3) << 4
//
//   unit (h, s)     four times 16 weights, p = 0..3, in bytes 32h + 16s + l of each plane: the first three levels in the
//                   upper six bits, the fourth in the lower two, so that few instructions take them apart
//
//                     bit 7         2 1   0
//                   a | level p = 0 | bits 0-1 of level p = 3 |
//                   b | level p = 1 | bits 2-3                |
//                   c | level p = 2 | bits 4-5                |
//
//   device scales   sub-block 8h + 2p + s stands at 8h + 4s + p: a unit's four scales are one word
//
// A level is kept in the upper six bits of its byte with the sign bit turned, which is 4 * (level - 32).
#pragma once

struct Q6_K {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 256;
    static constexpr int BYTES = 210;
    static constexpr int UNIT = 64;
    static constexpr int CHUNK = 16;
    static constexpr bool INTERLEAVED = true;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 192;
    static constexpr int PIECES16 = 3;
    static constexpr int STEP16 = 64;
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 planes[3];
        u32 scales;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int) { return base + 16 * corner; }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 192 : 208); }

    static constexpr DEVICE int shift4(int i) { return i == 0 ? 0 : 3; }

    static DEVICE Lane lane(const uint4 (&p)[3], const u32 (&w)[2], u32 unit) {
        return Lane{{p[0], p[1], p[2]}, w[0], (u16) (unit & 4 ? w[1] >> 16 : w[1])};
    }

    // level number 3 in the upper six bits of its byte; the lower two are anything
    static DEVICE u32 fourth(u32 a, u32 b, u32 c) {
        return either(0x0f0f0f0fu, either(0x03030303u, a, b << 2), c << 4) << 2;
    }

    static DEVICE u32 word(u32 a, u32 b, u32 c, int p) {
        return andXor(p == 0 ? a : p == 1 ? b : p == 2 ? c : fourth(a, b, c), 0xfcfcfcfcu, 0x80808080u);
    }

    static DEVICE uint4 levels(const Lane& lane, int, int p) {
        const uint4 a = lane.planes[0];
        const uint4 b = lane.planes[1];
        const uint4 c = lane.planes[2];
        return make_uint4(word(a.x, b.x, c.x, p), word(a.y, b.y, c.y, p), word(a.z, b.z, c.z, p),
                word(a.w, b.w, c.w, p));
    }

    static DEVICE int scale(const Lane& lane, int, int p) { return signedByte(lane.scales, p); }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d) * (1.f / 4); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int h = first >> 7;
        const int p = first >> 5 & 3;
        const int s = first >> 4 & 1;
        const u8* at = base + block * 192 + 32 * h + (first & 31);
        const float d = halfToFloat(((const u16*) (base + blocks * 208))[block])
                * ((const i8*) (base + blocks * 192))[block * 16 + 8 * h + 4 * s + p];
        for (int i = 0; i < 8; i++) {
            const int last = (at[i] & 3) | (at[64 + i] & 3) << 2 | (at[128 + i] & 3) << 4;
            out[i] = d * ((p < 3 ? at[64 * p + i] >> 2 : last) - 32);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 64; i++) {
            const int h = i >> 5;
            const u32 ql = in[64 * h + (i & 31)] | in[64 * h + 32 + (i & 31)] << 8;
            const u32 qh = in[128 + i];
            const u32 last = (ql >> 12 & 15) | (qh >> 6 & 3) << 4;
            base[block * 192 + i] = (ql & 15) << 2 | (qh & 3) << 6 | (last & 3);
            base[block * 192 + 64 + i] = (ql >> 8 & 15) << 2 | (qh >> 2 & 3) << 6 | (last >> 2 & 3);
            base[block * 192 + 128 + i] = (ql >> 4 & 15) << 2 | (qh >> 4 & 3) << 6 | last >> 4;
        }
        for (int j = 0; j < 16; j++) {
            base[blocks * 192 + block * 16 + (j & 8) + 4 * (j & 1) + (j >> 1 & 3)] = in[192 + j];
        }
        ((u16*) (base + blocks * 208))[block] = in[208] | in[209] << 8;
    }
};
