// The KV cache: rows of keys or values in pages, in one of three element types.
//
//   a layer's keys     | page 0 | page 1 | ...          page    | kv head 0 | kv head 1 | ...
//   a head in a page   | row of token 0 | ... | row of token 63 |
//   row (n elements)   f32   float[n], up to a multiple of 16 bytes
//                      f16   f16[n], up to a multiple of 16 bytes; where n is a multiple of 64, the 16 bytes number c
//                            stand at place c ^ (token % 8), so that tensor cores, whose lanes read 16 bytes of eight
//                            rows at once, meet no bank of shared memory twice in a copy of rows as they are
//                      q8_0  int8[n up to a multiple of 32], then f16 scale[one per 32]: 34 bytes for each 32 elements
#pragma once
#include "common.cuh"

constexpr int PAGE_TOKENS = 64;
constexpr int MAX_HEAD = 576;   // longest key or value head
constexpr int SHORT_HEAD = 256; // longest that few rows norm, rotate and append by themselves

// Where a row is, and which token of its page it belongs to.
struct KvRow {
    u8* bytes;
    int token;

    DEVICE KvRow(u8* bytes, int token) : bytes(bytes), token(token) {}
};

// One layer's cache and the step's page tables.
struct KvCache {
    u8* keys;
    u8* values;
    const int* pages; // [sequences][maxPages]
    int maxPages;
    int heads;

    // the row of a position, in `keys` or `values`
    DEVICE KvRow row(u8* base, int sequence, int position, int head, int rowBytes) const {
        const i64 page = pages[(i64) sequence * maxPages + position / PAGE_TOKENS];
        const int token = position % PAGE_TOKENS;
        return KvRow(base + ((page * heads + head) * PAGE_TOKENS + token) * rowBytes, token);
    }
};

// An element type:
//
//   Eight     the bytes of eight elements, in registers; load8 and decode8 read eight from i on, a multiple of 8
//   read      one element
//   write     a whole row, by the 32 lanes of a warp
//   put       of it, 32 elements side by side: number i, i % 32 being the lane
//   rounded   what a value is after it was written and read (q8_0: left as it is)
struct KvF32 {
    struct Eight {
        float4 a;
        float4 b;
    };

    static DEVICE int rowBytes(int n) { return (n * 4 + 15) & ~15; }

    static DEVICE float read(const KvRow& row, int, int i) { return ((const float*) row.bytes)[i]; }

    static DEVICE Eight load8(const KvRow& row, int, int i) {
        const float4* at = (const float4*) row.bytes + i / 4;
        return Eight{at[0], at[1]};
    }

    static DEVICE void decode8(const Eight& e, float (&to)[8]) {
        to[0] = e.a.x, to[1] = e.a.y, to[2] = e.a.z, to[3] = e.a.w;
        to[4] = e.b.x, to[5] = e.b.y, to[6] = e.b.z, to[7] = e.b.w;
    }

    static DEVICE void write(const KvRow& row, const float* from, int n, int lane) {
        for (int i = lane; i < n; i += 32) {
            put(row, n, i, from[i]);
        }
    }

    static DEVICE void put(const KvRow& row, int, int i, float value) { ((float*) row.bytes)[i] = value; }

    static DEVICE float rounded(float value) { return value; }
};

struct KvF16 {
    struct Eight {
        uint4 v;
    };

    static DEVICE int rowBytes(int n) { return (n * 2 + 15) & ~15; }

    // where element i of a row of n stands
    static DEVICE int place(const KvRow& row, int n, int i) { return n % 64 == 0 ? i ^ row.token % 8 * 8 : i; }

    static DEVICE float read(const KvRow& row, int n, int i) {
        return halfToFloat(((const u16*) row.bytes)[place(row, n, i)]);
    }

    static DEVICE Eight load8(const KvRow& row, int n, int i) {
        return Eight{((const uint4*) row.bytes)[place(row, n, i) / 8]};
    }

    static DEVICE void decode8(const Eight& e, float (&to)[8]) {
        to[0] = lowHalf(e.v.x), to[1] = highHalf(e.v.x), to[2] = lowHalf(e.v.y), to[3] = highHalf(e.v.y);
        to[4] = lowHalf(e.v.z), to[5] = highHalf(e.v.z), to[6] = lowHalf(e.v.w), to[7] = highHalf(e.v.w);
    }

    static DEVICE void write(const KvRow& row, const float* from, int n, int lane) {
        for (int i = lane; i < n; i += 32) {
            put(row, n, i, from[i]);
        }
    }

    static DEVICE void put(const KvRow& row, int n, int i, float value) {
        ((u16*) row.bytes)[place(row, n, i)] = floatToHalf(value);
    }

    static DEVICE float rounded(float value) { return halfToFloat(floatToHalf(value)); }
};

struct KvQ8_0 {
    struct Eight {
        uint2 v;
        u16 d;
    };

    static DEVICE int padded(int n) { return (n + 31) & ~31; }

    static DEVICE int rowBytes(int n) { return padded(n) + padded(n) / 16; }

    static DEVICE float read(const KvRow& row, int n, int i) {
        return halfToFloat(((const u16*) (row.bytes + padded(n)))[i / 32]) * ((const i8*) row.bytes)[i];
    }

    static DEVICE Eight load8(const KvRow& row, int n, int i) {
        const u32* q = (const u32*) row.bytes + i / 4; // n is a multiple of 64 here, so rows begin at multiples of 4
        return Eight{make_uint2(q[0], q[1]), ((const u16*) (row.bytes + padded(n)))[i / 32]};
    }

    static DEVICE void decode8(const Eight& e, float (&to)[8]) {
        const float d = halfToFloat(e.d);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            to[j] = d * (float) ((int) (e.v.x << (24 - 8 * j)) >> 24);
            to[j + 4] = d * (float) ((int) (e.v.y << (24 - 8 * j)) >> 24);
        }
    }

    static DEVICE void write(const KvRow& row, const float* from, int n, int lane) {
        for (int i = lane; i < padded(n); i += 32) {
            put(row, n, i, i < n ? from[i] : 0.f);
        }
    }

    static DEVICE void put(const KvRow& row, int n, int i, float value) {
        const float largest = maxOver(fabsf(value), 32);
        const float inverse = largest > 0.f ? 127.f / largest : 0.f;
        ((i8*) row.bytes)[i] = (i8) __float2int_rn(value * inverse);
        if (i % 32 == 0) {
            ((u16*) (row.bytes + padded(n)))[i / 32] = floatToHalf(largest * (1.f / 127));
        }
    }

    static DEVICE float rounded(float value) { return value; }
};

// The types by the names that entry points have, for modules that are compiled for a pair of them:
// -DTENON_KEYS=f16 -DTENON_VALUES=q8_0. Without these, a module has the entry points of one type for both.
typedef KvF32 Kv_f32;
typedef KvF16 Kv_f16;
typedef KvQ8_0 Kv_q8_0;

#define KV_TYPE_(name) Kv_##name
#define KV_TYPE(name) KV_TYPE_(name)
#define KV_PAIR_(keys, values) keys##_##values
#define KV_PAIR(keys, values) KV_PAIR_(keys, values)

// What happens to a query or key head before attention: norm, then rotation. Both are optional.
struct HeadInput {
    const float* norm;  // [length], or null
    float eps;
    const float* table; // (cos, sin)[T][ropeDim / 2], or null
    int ropeDim;
    int pairing; // 0: elements 2i and 2i + 1 are a pair; 1: i and i + ropeDim / 2
};

// A head of token t from `from` to `to`, done by the 32 lanes of a warp. `from` and `to` differ.
static DEVICE void prepareHead(const HeadInput& in, int t, const float* from, float* to, int length, int lane) {
    float factor = 1.f;
    if (in.norm != nullptr) {
        float squares = 0.f;
        for (int i = lane; i < length; i += 32) {
            squares += from[i] * from[i];
        }
        factor = rsqrtf(sumOver(squares, 32) / length + in.eps);
    }
    auto normed = [&](int i) { return in.norm != nullptr ? from[i] * factor * in.norm[i] : from[i]; };
    const int pairs = in.table != nullptr ? in.ropeDim / 2 : 0;
    for (int i = lane; i < pairs; i += 32) {
        const int a = in.pairing == 0 ? 2 * i : i;
        const int b = in.pairing == 0 ? a + 1 : a + pairs;
        const float2 angle = ((const float2*) in.table)[(i64) t * pairs + i];
        const float x = normed(a);
        const float y = normed(b);
        to[a] = x * angle.x - y * angle.y;
        to[b] = x * angle.y + y * angle.x;
    }
    for (int i = 2 * pairs + lane; i < length; i += 32) {
        to[i] = normed(i);
    }
    __syncwarp();
}
