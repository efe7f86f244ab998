// Flash attention of many query rows on the tensor cores, over the paged KV cache.
//
//   A block has 64 query rows: up to 64 / group consecutive tokens of one sequence times the `group` query heads that
//   share a KV head; row r is token r / group, head r % group. Its four warps have 16 rows each. It walks over the
//   sequence's pages (64 positions each) and keeps, for each row, the greatest score m, the sum l of exponentials and
//   the weighted sum of values o (online softmax):
//
//     page p:  K, V --> shared memory as halves (page p + 1 is under way while page p is multiplied)
//              s = q K^T                     tensor cores; 16 x 64 scores a warp, in registers
//              mask, soft cap, m' = max(m, s), e = exp(s - m'), l = l exp(m - m') + sum(e)
//              o = o exp(m - m') + e V       tensor cores
//
//   A row of a page in shared memory has D / 8 pieces of 16 bytes; piece c of row r stands at place c ^ (r % 8), so
//   that matrix loads meet no bank twice. So it does in the cache (kv_cache.cuh), if it holds halves and D is a
//   multiple of 64.
#include "tensor_core.cuh"

constexpr int PAGE_TOKENS = 64;
constexpr int ATTENTION_THREADS = 128;

template <int D> DEVICE u32 pieceAddress(u32 base, int row, int piece) {
    // Where a row is not a multiple of eight pieces, those of its end swap within four.
    int swap = row & (piece < D / 64 * 8 ? 7 : 3);
    return base + row * (D * 2) + ((piece ^ swap) << 4);
}

DEVICE float exp2Fast(float v) {
    float e;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(v));
    return e;
}

// How a cache type keeps the D elements of a row: ROW_BYTES, and `stage`, which writes a page's rows for one KV head to
// shared memory as halves. Rows from `count` on become zeros.

template <int D> struct CacheF16 {
    static constexpr i64 ROW_BYTES = D * 2;
    static DEVICE void stage(u32 to, const u8* from, int count) {
#pragma unroll
        for (int i = threadIdx.x; i < PAGE_TOKENS * D / 8; i += ATTENTION_THREADS) {
            int row = i / (D / 8);
            copyAsync(D % 64 == 0 ? to + i * 16 : pieceAddress<D>(to, row, i % (D / 8)), from + i * 16, row < count);
        }
    }
};

template <int D> struct CacheF32 {
    static constexpr i64 ROW_BYTES = D * 4;
    static DEVICE void stage(u32 to, const u8* from, int count) {
#pragma unroll 4
        for (int i = threadIdx.x; i < PAGE_TOKENS * D / 8; i += ATTENTION_THREADS) {
            int row = i / (D / 8);
            float4 a = make_float4(0, 0, 0, 0), b = a;
            if (row < count) {
                a = ((const float4*)from)[2 * i];
                b = ((const float4*)from)[2 * i + 1];
            }
            uint4 values = make_uint4(halvesClamped(a.x, a.y), halvesClamped(a.z, a.w), halvesClamped(b.x, b.y),
                                      halvesClamped(b.z, b.w));
            storeShared(pieceAddress<D>(to, row, i % (D / 8)), values);
        }
    }
};

// A row is int8[D], then a half scale for each 32 of them.
template <int D> struct CacheQ8_0 {
    static constexpr i64 ROW_BYTES = D + D / 32 * 2;
    static DEVICE void stage(u32 to, const u8* from, int count) {
#pragma unroll 4
        for (int i = threadIdx.x; i < PAGE_TOKENS * D / 8; i += ATTENTION_THREADS) {
            int row = i / (D / 8);
            int piece = i % (D / 8);
            uint4 values = make_uint4(0, 0, 0, 0);
            if (row < count) {
                const u8* bytes = from + row * ROW_BYTES;
                const u16* q = (const u16*)(bytes + piece * 8);    // a row is a multiple of two bytes
                float d = halfToFloat(*(const u16*)(bytes + D + piece / 4 * 2));
                values = make_uint4(two(q[0], d), two(q[1], d), two(q[2], d), two(q[3], d));
            }
            storeShared(pieceAddress<D>(to, row, piece), values);
        }
    }
    static DEVICE u32 two(u32 bytes, float d) {
        return halves(d * (signed char)bytes, d * (signed char)(bytes >> 8));
    }
};

template <class Keys, class Values, int D>
DEVICE void attention(const float* q, const int4* tiles, const int* positions, const int* pages, int maxPages,
                      const u8* kCache, const u8* vCache, void* out, bool halved, int heads, int kvHeads, float scale,
                      int window, float softCap, const float* sinks, const int* lasts, float gain, int offset,
                      int period, int chunk, const int* firsts) {
    extern __shared__ __align__(128) u8 shared[];
    constexpr u32 PAGE_BYTES = PAGE_TOKENS * D * 2;
    const float LOG2E = 1.4426950408889634f;
    u32 base = sharedAddress(shared);
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    int kvHead = blockIdx.y;
    int group = heads / kvHeads;

    waitForInputs();
    launchDependents();
    int4 tile = tiles[blockIdx.x];
    int firstRow = tile.x, rowCount = tile.y;
    if (rowCount == 0) return;
    int firstPosition = positions[firstRow];    // which chains of steps move on, unlike the tile
    const int* table = pages + (i64)tile.z * maxPages;
    // How many positions a row sees before and after its own; of an encoder's rows, half a window each.
    // With `firsts`, a window ends at that position, and a row sees all from there up to its own of `lasts`.
    bool half = lasts != nullptr && firsts == nullptr;
    int before = window <= 0 ? 1 << 30 : half ? window / 2 : window - 1;
    int after = lasts == nullptr ? 0 : half && window > 0 ? window / 2 : 1 << 30;
    int lastPosition = firstPosition + rowCount - 1;
    if (lasts != nullptr) lastPosition += min(after, lasts[firstRow + rowCount - 1] - lastPosition);
    auto lowest = [&](int token) { // position that a token of the tile sees
        int own = firstPosition + token;
        int from = firsts != nullptr ? firsts[firstRow + token] : own;
        return max(from - before, chunk > 0 ? (int)((u32)own / (u32)chunk * chunk) : 0);
    };
    auto highest = [&](int token) {
        return firsts != nullptr ? lasts[firstRow + token] : min(firstPosition + token + after, lastPosition);
    };
    int firstPage = lowest(0) / PAGE_TOKENS;
    int endPage = lastPosition / PAGE_TOKENS + 1;

    auto stagePage = [&](int page) {
        i64 row = ((i64)table[page] * kvHeads + kvHead) * PAGE_TOKENS;
        u32 to = base + (page & 1) * 2 * PAGE_BYTES;
        int count = lastPosition + 1 - page * PAGE_TOKENS;
        Keys::stage(to, kCache + row * Keys::ROW_BYTES, count);
        Values::stage(to + PAGE_BYTES, vCache + row * Values::ROW_BYTES, count);
        copiesEnd();
    };
    stagePage(firstPage);

    // This thread's two query rows, and their elements as fragments of the left factor.
    int tokenOf[2], headOf[2];
    bool used[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int r = warp * 16 + (lane >> 2) + 8 * i;
        used[i] = r / group < rowCount;
        tokenOf[i] = used[i] ? r / group : rowCount - 1;
        headOf[i] = kvHead * group + r % group;
    }
    float inner[2];
    int low[2], high[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        inner[i] = softCap > 0 ? scale : scale * LOG2E;    // exponentials are of base 2
        inner[i] *= positionFactor(gain, offset, period, firstPosition + tokenOf[i]);
        low[i] = lowest(tokenOf[i]);
        high[i] = highest(tokenOf[i]);
    }
    u32 fragQ[D / 16][4];
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
#pragma unroll
        for (int part = 0; part < 4; part++) {
            int i = part & 1;
            i64 at = ((i64)(firstRow + tokenOf[i]) * heads + headOf[i]) * D + k * 16 + (part >> 1) * 8 + (lane & 3) * 2;
            float2 v = *(const float2*)(q + at);
            fragQ[k][part] = halvesClamped(v.x * inner[i], v.y * inner[i]);
        }
    }

    float o[D / 8][4] = {};
    float greatest[2] = {-1e30f, -1e30f};
    float sum[2] = {0, 0};
    if (sinks != nullptr) { // a score without a value
#pragma unroll
        for (int i = 0; i < 2; i++) {
            greatest[i] = sinks[headOf[i]] * LOG2E;
            sum[i] = (lane & 3) == 0 ? 1 : 0;
        }
    }
    for (int page = firstPage; page < endPage; page++) {
        copiesWait<0>();
        __syncthreads();
        if (page + 1 < endPage) stagePage(page + 1);
        u32 k = base + (page & 1) * 2 * PAGE_BYTES;
        u32 v = k + PAGE_BYTES;

        float s[PAGE_TOKENS / 8][4] = {};
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
#pragma unroll
            for (int j = 0; j < PAGE_TOKENS / 16; j++) {
                u32 frag[4];
                loadMatrices(frag, pieceAddress<D>(k, j * 16 + (lane >> 4) * 8 + (lane & 7), 2 * d + (lane >> 3 & 1)));
                multiply(s[2 * j], fragQ[d], frag[0], frag[1]);
                multiply(s[2 * j + 1], fragQ[d], frag[2], frag[3]);
            }
        }

        if (softCap > 0) {
#pragma unroll
            for (int j = 0; j < PAGE_TOKENS / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) s[j][e] = softCap * LOG2E * tanhf(s[j][e] / softCap);
        }
        int start = page * PAGE_TOKENS;
        bool whole = start + PAGE_TOKENS - 1 <= highest(0) && start >= lowest(rowCount - 1);
        if (!whole) {
#pragma unroll
            for (int j = 0; j < PAGE_TOKENS / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    int other = start + j * 8 + (lane & 3) * 2 + (e & 1);
                    if (other > high[e >> 1] || other < low[e >> 1]) s[j][e] = -1e30f;
                }
        }

#pragma unroll
        for (int i = 0; i < 2; i++) {
            float top = greatest[i];
#pragma unroll
            for (int j = 0; j < PAGE_TOKENS / 8; j++) top = fmaxf(top, fmaxf(s[j][2 * i], s[j][2 * i + 1]));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            float keep = exp2Fast(greatest[i] - top);
            greatest[i] = top;
            // A row whose window begins on a later page has seen no score yet: nothing of this page counts.
            float shift = top <= -1e29f ? 0 : top;
            float added = 0;
#pragma unroll
            for (int j = 0; j < PAGE_TOKENS / 8; j++) {
                s[j][2 * i] = exp2Fast(s[j][2 * i] - shift);
                s[j][2 * i + 1] = exp2Fast(s[j][2 * i + 1] - shift);
                added += s[j][2 * i] + s[j][2 * i + 1];
            }
            sum[i] = sum[i] * keep + added;
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                o[d][2 * i] *= keep;
                o[d][2 * i + 1] *= keep;
            }
        }

#pragma unroll
        for (int j = 0; j < PAGE_TOKENS / 16; j++) {
            u32 e[4] = {halves(s[2 * j][0], s[2 * j][1]), halves(s[2 * j][2], s[2 * j][3]),
                        halves(s[2 * j + 1][0], s[2 * j + 1][1]), halves(s[2 * j + 1][2], s[2 * j + 1][3])};
#pragma unroll
            for (int d = 0; d < D / 16; d++) {
                u32 frag[4];
                loadMatricesTransposed(frag, pieceAddress<D>(v, j * 16 + (lane & 15), 2 * d + (lane >> 4)));
                multiply(o[2 * d], e, frag[0], frag[1]);
                multiply(o[2 * d + 1], e, frag[2], frag[3]);
            }
        }
    }

#pragma unroll
    for (int i = 0; i < 2; i++) {
        float total = sum[i];
        total += __shfl_xor_sync(~0u, total, 1);
        total += __shfl_xor_sync(~0u, total, 2);
        if (!used[i]) continue;
        float factor = 1 / total;
        i64 to = ((i64)(firstRow + tokenOf[i]) * heads + headOf[i]) * D + (lane & 3) * 2;
#pragma unroll
        for (int d = 0; d < D / 8; d++) {
            float2 v = make_float2(o[d][2 * i] * factor, o[d][2 * i + 1] * factor);
            if (halved) {
                *(u32*)((u16*)out + to + d * 8) = halvesClamped(v.x, v.y);
            } else {
                *(float2*)((float*)out + to + d * 8) = v;
            }
        }
    }
}

#define TENON_ATTENTION_ENTRY_(NAME, KEYS, VALUES, D)                                                                \
    extern "C" __global__ void __launch_bounds__(ATTENTION_THREADS)                                                  \
        attention_prefill_##NAME##_d##D(const float* q, const int4* tiles, const int* positions, const int* pages,   \
             int maxPages, const u8* kCache, const u8* vCache, void* out, int halved, int heads, int kvHeads,        \
             float scale, int window, float softCap, const float* sinks, const int* lasts, float gain, int offset,   \
             int period, int chunk, const int* firsts) {                                                             \
        attention<KEYS<D>, VALUES<D>, D>(q, tiles, positions, pages, maxPages, kCache, vCache, out, halved, heads,   \
                                         kvHeads, scale, window, softCap, PLAIN ? nullptr : sinks,                   \
                                         PLAIN ? nullptr : lasts, PLAIN ? 0.f : gain, offset, period,                \
                                         PLAIN ? 0 : chunk, PLAIN ? nullptr : firsts);                               \
    }
#define TENON_ATTENTION_ENTRY(NAME, KEYS, VALUES, D) TENON_ATTENTION_ENTRY_(NAME, KEYS, VALUES, D)

#ifdef TENON_KEYS
template <int D> using Cache_f32 = CacheF32<D>;
template <int D> using Cache_f16 = CacheF16<D>;
template <int D> using Cache_q8_0 = CacheQ8_0<D>;
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define TENON_ATTENTION_ENTRIES(D) \
    TENON_ATTENTION_ENTRY(PASTE(TENON_KEYS, TENON_VALUES), PASTE(Cache, TENON_KEYS), PASTE(Cache, TENON_VALUES), D)
#else
#define TENON_ATTENTION_ENTRIES(D)                        \
    TENON_ATTENTION_ENTRY(f16, CacheF16, CacheF16, D)     \
    TENON_ATTENTION_ENTRY(f32, CacheF32, CacheF32, D)     \
    TENON_ATTENTION_ENTRY(q8_0, CacheQ8_0, CacheQ8_0, D)
#endif

TENON_ATTENTION_ENTRIES(64)
TENON_ATTENTION_ENTRIES(96)
TENON_ATTENTION_ENTRIES(128)
TENON_ATTENTION_ENTRIES(256)
