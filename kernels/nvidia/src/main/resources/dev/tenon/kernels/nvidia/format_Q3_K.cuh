// Q3_K: 256 three-bit levels, sixteen sub-blocks of 16 with a 6-bit scale each.
//
//   GGUF     | hmask: uint8[32] | qs: uint8[64] | scales: uint8[12] | d:f16 |   110 bytes a block, so 2-byte aligned
//   device   | hmask, qs: uint8[96] of every block ... | scales: int8[16] ... | d: f16 ... |
//
//   value[i] = d * (scale[i / 16] - 32) * (q[i] - 4);
//   for h, s in 0..1, p in 0..3 and l in 0..15, i = 128h + 32p + 16s + l:
//   q[i] = (qs[32h + 16s + l] >> 2p & 3) | (hmask[16s + l] >> 4h + p & 1) << 2
//   scale[j]: low 4 bits   j < 8 ? scales[j] & 15 : scales[j - 8] >> 4
//             high 2 bits  scales[8 + j % 4] >> 2 (j / 4) & 3
//
//   device scales   scale - 32, unpacked; sub-block 8h + 2p + s stands at 8h + 4s + p, as in Q6_K
//
// A level is kept in the upper three bits of its byte with the sign bit turned, which is 32 * (level - 4).
#pragma once

struct Q3_K {
    static constexpr FormatKind KIND = INTEGERS;
    static constexpr int BLOCK = 256;
    static constexpr int BYTES = 110;
    static constexpr int UNIT = 64;
    static constexpr int CHUNK = 16;
    static constexpr bool INTERLEAVED = true;
    static constexpr bool MINIMUMS = false;
    static constexpr bool REPACKED = true;
    static constexpr int BLOCK_UNITS = 2;
    static constexpr int STRIDE = 96;
    static constexpr int PIECES16 = 2;
    static constexpr int PIECES4 = 2;

    struct Lane {
        uint4 low;
        uint4 high;
        u32 scales;
        u16 d;
    };

    static DEVICE const u8* piece16(const u8* base, int corner, int i) {
        const int h = corner >> 1;
        const int s = corner & 1;
        return base + 16 * s + (i == 0 ? 32 + 32 * h : 0);
    }

    static DEVICE const u8* piece4(const u8* base, i64 blocks, int i) { return base + blocks * (i == 0 ? 96 : 112); }

    static constexpr DEVICE int shift4(int i) { return i == 0 ? 0 : 3; }

    static DEVICE Lane lane(const uint4 (&p)[2], const u32 (&w)[2], u32 unit) {
        return Lane{p[0], p[1], w[0], (u16) (unit & 4 ? w[1] >> 16 : w[1])};
    }

    static DEVICE u32 word(u32 low, u32 high, int p) {
        const u32 h = andXor(high << (3 - p), 0x80808080u, 0x80808080u);
        return andOr(p < 3 ? low << (5 - 2 * p) : low >> 1, 0x60606060u, h);
    }

    static DEVICE uint4 levels(const Lane& lane, int unit, int p) {
        const uint4 l = lane.low;
        const uint4 m = lane.high;
        const int up = unit & 2 ? 0 : 4; // brings the mask bits of this half, 4h .. 4h + 3, to bits 4..7
        return make_uint4(
                word(l.x, m.x << up, p), word(l.y, m.y << up, p), word(l.z, m.z << up, p), word(l.w, m.w << up, p));
    }

    static DEVICE int scale(const Lane& lane, int, int p) { return signedByte(lane.scales, p); }

    static DEVICE float factor(const Lane& lane) { return halfToFloat(lane.d) * (1.f / 32); }

    static DEVICE void decode8(const u8* base, i64 blocks, i64 block, int first, float* out) {
        const int h = first >> 7;
        const int p = first >> 5 & 3;
        const int s = first >> 4 & 1;
        const u8* hmask = base + block * 96 + (first & 31);
        const u8* qs = hmask + 32 + 32 * h;
        const float d = halfToFloat(((const u16*) (base + blocks * 112))[block])
                * ((const i8*) (base + blocks * 96))[block * 16 + 8 * h + 4 * s + p];
        for (int i = 0; i < 8; i++) {
            out[i] = d * ((qs[i] >> 2 * p & 3 | (hmask[i] >> (4 * h + p) & 1) << 2) - 4);
        }
    }

    static DEVICE void repack(const u8* in, u8* base, i64 blocks, i64 block) {
        for (int i = 0; i < 96; i++) {
            base[block * 96 + i] = in[i];
        }
        const u8* packed = in + 96;
        for (int j = 0; j < 16; j++) {
            const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
            const int high = packed[8 + (j & 3)] >> 2 * (j >> 2) & 3;
            base[blocks * 96 + block * 16 + (j & 8) + 4 * (j & 1) + (j >> 1 & 3)] = (u8) ((low | high << 4) - 32);
        }
        ((u16*) (base + blocks * 112))[block] = in[108] | in[109] << 8;
    }
};
