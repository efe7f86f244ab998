// Q6_K: 256 six-bit levels, sixteen sub-blocks of 16 with a signed 8-bit scale each.
//
//   GGUF     | ql: uint8[128] | qh: uint8[64] | scales: int8[16] | d:f16 |      210 bytes a block, so 2-byte aligned
//   device   | ql, qh: uint8[192] of every block ... | scales: int8[16] ... | d: f16 ... |
//
//   value[i] = d * scales[i / 16] * (q[i] - 32);
//   for h, s in 0..1, p in 0..3 and l in 0..15, i = 128h + 32p + 16s + l:
//   q[i] = (ql[64h + 32(p & 1) + 16s + l] >> 4(p / 2) & 15) | (qh[32h + 16s + l] >> 2p & 3) << 4
//
//   unit (h, s)     16 bytes of ql, 16 bytes of ql 32 further on, 16 bytes of qh: four times 16 weights, p = 0..3
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
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 low[2];
        uint4 high;
        u32 scales;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int i) {
        const int h = corner >> 1;
        const int s = corner & 1;
        return base + 16 * s + (i < 2 ? 64 * h + 32 * i : 128 + 32 * h);
    }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 192 : 208); }

    static constexpr DEVICE int shift4(int i) { return i == 0 ? 0 : 3; }

    static DEVICE Lane lane(const uint4 (&p)[3], const u32 (&w)[2], u32 unit) {
        return Lane{{p[0], p[1]}, p[2], w[0], (u16) (unit & 4 ? w[1] >> 16 : w[1])};
    }

    static DEVICE u32 word(u32 low, u32 high, int p) {
        const u32 h = andXor(p < 3 ? high << (6 - 2 * p) : high, 0xc0c0c0c0u, 0x80808080u);
        return andOr(p < 2 ? low << 2 : low >> 2, 0x3c3c3c3cu, h);
    }

    static DEVICE uint4 levels(const Lane& lane, int, int p) {
        const uint4 l = lane.low[p & 1];
        const uint4 h = lane.high;
        return make_uint4(word(l.x, h.x, p), word(l.y, h.y, p), word(l.z, h.z, p), word(l.w, h.w, p));
    }

    static DEVICE int scale(const Lane& lane, int, int p) { return signedByte(lane.scales, p); }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d) * (1.f / 4); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int h = first >> 7;
        const int p = first >> 5 & 3;
        const int s = first >> 4 & 1;
        const u8* ql = base + block * 192 + 64 * h + 32 * (p & 1) + (first & 31);
        const u8* qh = base + block * 192 + 128 + 32 * h + (first & 31);
        const float d = halfToFloat(((const u16*) (base + blocks * 208))[block])
                * ((const i8*) (base + blocks * 192))[block * 16 + 8 * h + 4 * s + p];
        for (int i = 0; i < 8; i++) {
            out[i] = d * ((ql[i] >> 4 * (p >> 1) & 15 | (qh[i] >> 2 * p & 3) << 4) - 32);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 192; i++) {
            base[block * 192 + i] = in[i];
        }
        for (int j = 0; j < 16; j++) {
            base[blocks * 192 + block * 16 + (j & 8) + 4 * (j & 1) + (j >> 1 & 3)] = in[192 + j];
        }
        ((u16*) (base + blocks * 208))[block] = in[208] | in[209] << 8;
    }
};
