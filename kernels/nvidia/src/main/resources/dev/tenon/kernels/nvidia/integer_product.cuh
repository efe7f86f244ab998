// Rows of a quantised weight times activations that are quantised on the way.
//
// Shared memory of IntegerProduct, for T rows of `cols` activations:
//
//   int8 levels[T][cols] | float scales[T][cols / 32] | float sums[T][cols / CHUNK]     (sums: formats with minimums)
//
// Within a row, 16 levels number i of unit u stand at 16 * (i * units + u), so that the lanes of a warp, which hold
// units side by side, read side by side. Scales stand in their own order, those of a unit together; sums too, except
// that the four of an interleaved unit stand together.
#pragma once
#include "product.cuh"

// Whether blocks of a format lie in pairs.
template <class F, class = void>
constexpr bool IN_PAIRS = false;
template <class F>
constexpr bool IN_PAIRS<F, decltype((void) F::PAIRS)> = F::PAIRS;

// Bytes between the pieces of a unit where they lie regularly, so that one pointer finds them all; else 0.
template <class F, class = void>
constexpr int STEP_OF = 0;
template <class F>
constexpr int STEP_OF<F, decltype((void) F::STEP16)> = F::STEP16;

// How far the levels of odd chunks are shifted up.
template <class F, class = void>
constexpr int ODD_SHIFT_OF = 0;
template <class F>
constexpr int ODD_SHIFT_OF<F, decltype((void) F::ODD_SHIFT)> = F::ODD_SHIFT;

template <class F, int T>
struct IntegerProduct {
    static constexpr int UNIT = F::UNIT;
    static constexpr int SPAN = F::UNIT < 64 ? 2 : 1;
    static constexpr int PIECES16 = F::PIECES16;
    static constexpr int PIECES4 = F::PIECES4;
    typedef typename F::Lane Lane;

    Input in;
    int cols;
    int units;
    i8* levels;
    float* scales;
    float* sums;

    DEVICE IntegerProduct(u8* shared, const Input& in) : in(in), cols(in.cols), units(in.cols / UNIT) {
        levels = (i8*) shared;
        scales = (float*) (shared + T * cols);
        sums = scales + T * (cols / 32);
    }

    static DEVICE int unitCount(int cols) { return cols / UNIT; }

    // shared memory that is taken, a multiple of 16
    static DEVICE int sharedBytes(int cols) { return T * (cols / 2 * 3); }

    static constexpr int POINTERS16 = STEP_OF<F> > 0 ? 1 : PIECES16;

    struct Weight {
        const u8* pieces16[POINTERS16];
        const u8* pieces4[PIECES4 > 0 ? PIECES4 : 1];
        u32 pairs; // of formats whose blocks lie in pairs

        DEVICE Weight() {}

        DEVICE Weight(const u8* base, int rows, int cols, int lane) {
            const i64 blocks = (i64) rows * cols / F::BLOCK;
#pragma unroll
            for (int i = 0; i < POINTERS16; i++) {
                if constexpr (IN_PAIRS<F>) {
                    pairs = F::pairs(blocks);
                    pieces16[i] = kept(base + 16 * i * (1 + pairs));
                } else {
                    pieces16[i] = kept(F::piece16(base, lane & ((1 << F::BLOCK_UNITS) - 1), i));
                }
            }
#pragma unroll
            for (int i = 0; i < PIECES4; i++) {
                pieces4[i] = kept(F::piece4(base, blocks, i));
            }
        }
    };

    DEVICE Weight weight(const u8* base, int rows, int lane) const { return Weight(base, rows, cols, lane); }

    // a or b, pointer by pointer, so that both stay in registers
    static DEVICE Weight choose(bool second, const Weight& a, const Weight& b) {
        Weight w;
        if constexpr (IN_PAIRS<F>) {
            w.pairs = second ? b.pairs : a.pairs;
        }
#pragma unroll
        for (int i = 0; i < POINTERS16; i++) {
            w.pieces16[i] = second ? b.pieces16[i] : a.pieces16[i];
        }
#pragma unroll
        for (int i = 0; i < PIECES4; i++) {
            w.pieces4[i] = second ? b.pieces4[i] : a.pieces4[i];
        }
        return w;
    }

    DEVICE void copy(const Slot& slot, const Weight& weight, int row, int u, bool there) const {
        const u32 unit = (u32) row * units + u;
#pragma unroll
        for (int i = 0; i < PIECES16; i++) {
            if constexpr (IN_PAIRS<F>) {
                copy16(slot.piece16(i), weight.pieces16[i] + (u64) F::sixteens(unit, weight.pairs) * 16, there);
            } else {
                const u8* first = weight.pieces16[i % POINTERS16] + (u64) (unit >> F::BLOCK_UNITS) * F::STRIDE;
                copy16(slot.piece16(i), first + i * STEP_OF<F>, there);
            }
        }
#pragma unroll
        for (int i = 0; i < PIECES4; i++) {
            copy4(slot.piece4(i), weight.pieces4[i] + (u64) (unit >> F::shift4(i)) * 4, there);
        }
    }

    DEVICE Lane lane(const Slot& slot, int row, int u) const {
        uint4 p[PIECES16];
        u32 w[PIECES4 > 0 ? PIECES4 : 1];
#pragma unroll
        for (int i = 0; i < PIECES16; i++) {
            p[i] = readShared16(slot.piece16(i));
        }
#pragma unroll
        for (int i = 0; i < PIECES4; i++) {
            w[i] = readShared4(slot.piece4(i));
        }
        return F::lane(p, w, (u32) row * units + u);
    }

    // place of the g-th 16 activations of a row
    DEVICE int sixteen(int g) const {
        if constexpr (F::INTERLEAVED) {
            return (g >> 1 & 3) * units + (g >> 4) * 4 + (g >> 3 & 1) * 2 + (g & 1);
        } else {
            constexpr int PER = UNIT / 16;
            return g % PER * units + g / PER;
        }
    }

    // place of the sum of the g-th 16 activations of a row
    DEVICE int sumOf16(int g) const {
        if constexpr (F::INTERLEAVED) {
            return (g & ~7) + 4 * (g & 1) + (g >> 1 & 3);
        } else {
            return g;
        }
    }

    // Quantises eight activations of row t, c .. c + 7; four threads side by side share a scale.
    DEVICE void quantise(int t, int c, const float4 (&v)[2]) const {
        const float largest = maxOver(fmaxf(largestOf(v[0]), largestOf(v[1])), 4);
        const float inverse = largest > 1e-30f ? 127.f * reciprocal(largest) : 0.f;
        const uint2 words = make_uint2(bytes(v[0], inverse), bytes(v[1], inverse));
        float sum = 0.f;
        if constexpr (F::MINIMUMS) {
            const int own = __dp4a((int) words.x, 0x01010101, __dp4a((int) words.y, 0x01010101, 0));
            sum = sumOver((float) own, F::CHUNK / 8);
        }
        if (c >= cols) {
            return;
        }
        *(uint2*) (levels + t * cols + 16 * sixteen(c / 16) + c % 16) = words;
        const float scale = largest * (1.f / 127);
        if (c % 32 == 0) {
            const bool shifted = ODD_SHIFT_OF<F> > 0 && (c & 32) != 0;
            scales[t * (cols / 32) + c / 32] = shifted ? scale * (1.f / (1 << ODD_SHIFT_OF<F>)) : scale;
        }
        if constexpr (F::MINIMUMS) {
            if (c % F::CHUNK == 0) {
                const int at = F::CHUNK == 32 ? c / 32 : sumOf16(c / 16);
                sums[t * (cols / F::CHUNK) + at] = scale * sum;
            }
        }
    }

    static DEVICE float largestOf(const float4& v) {
        return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    }

    // The nearest whole numbers of v * inverse, a signed byte each. Adding 1.5 * 2^23 leaves them in the lowest bits.
    static DEVICE u32 bytes(const float4& v, float inverse) {
        const float magic = 12582912.f;
        const u32 a = __float_as_uint(v.x * inverse + magic);
        const u32 b = __float_as_uint(v.y * inverse + magic);
        const u32 c = __float_as_uint(v.z * inverse + magic);
        const u32 d = __float_as_uint(v.w * inverse + magic);
        return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
    }

    // What a thread needs of the norm's weight first; no kernel of the step writes it.
    struct Early {
        float4 norm[2];
        float perCol; // 1 / cols
    };

    DEVICE Early early() const { return Early{{norm(8 * threadIdx.x), norm(8 * threadIdx.x + 4)}, 1.f / cols}; }

    DEVICE float4 norm(int c) const {
        return c < cols && in.norm != nullptr ? *(const float4*) (in.norm + c) : make_float4(1.f, 1.f, 1.f, 1.f);
    }

    DEVICE void prepare(const Early& first, float (&factor)[T]) const {
        constexpr int BATCH = T == 1 ? 2 : 1; // loads under way at once
        float squares[T] = {};
        const int stride = 8 * blockDim.x;
        // the whole block goes round together
        for (int start = 0; start < cols; start += BATCH * stride) {
            float4 v[BATCH][T][2];
#pragma unroll
            for (int b = 0; b < BATCH; b++) {
                const int c = start + b * stride + 8 * threadIdx.x;
#pragma unroll
                for (int i = 0; i < 2; i++) {
#pragma unroll
                    for (int t = 0; t < T; t++) {
                        v[b][t][i] = c < cols ? *(const float4*) (in.x + t * cols + c + 4 * i)
                                              : make_float4(0.f, 0.f, 0.f, 0.f);
                    }
                }
            }
#pragma unroll
            for (int b = 0; b < BATCH; b++) {
                if (start + b * stride < cols) {
                    const int c = start + b * stride + 8 * threadIdx.x;
                    const bool known = start + b * stride == 0;
                    const float4 n[2] = {known ? first.norm[0] : norm(c), known ? first.norm[1] : norm(c + 4)};
#pragma unroll
                    for (int t = 0; t < T; t++) {
                        float own = 0.f;
#pragma unroll
                        for (int i = 0; i < 2; i++) {
                            float4& x = v[b][t][i];
                            own += (x.x * x.x + x.y * x.y) + (x.z * x.z + x.w * x.w);
                            x.x *= n[i].x, x.y *= n[i].y, x.z *= n[i].z, x.w *= n[i].w;
                        }
                        squares[t] += sumOver(own, 32); // here, where there is other work beside the exchanges
                        quantise(t, c, v[b][t]);
                    }
                }
            }
        }
        normFactors<T>(in, squares, first.perCol, factor);
    }

    // levels of formats with minimums have no sign
    static DEVICE int dot4(u32 levels, u32 activations, int sum) {
        if constexpr (F::MINIMUMS) {
            return dotUnsigned(levels, activations, sum);
        } else {
            return __dp4a((int) levels, (int) activations, sum);
        }
    }

    template <int N>
    DEVICE void add(const Lane (&lane)[N], int u, float (&acc)[N][T]) const {
        constexpr int CHUNKS = UNIT / F::CHUNK;
        constexpr int WORDS = F::CHUNK / 16;
        constexpr int SCALES = F::INTERLEAVED ? 4 : UNIT / 32; // of the activations of a unit
        constexpr int PER_SCALE = CHUNKS / SCALES;             // chunks under one of them
        float sum[N][T] = {};                                  // of scale * level * activation
        float low[N][T] = {};                                  // of minimum * activation
        float scale[T][SCALES];
        float sums[T][CHUNKS];
#pragma unroll
        for (int t = 0; t < T; t++) {
            read(scale[t], scales + t * (cols / 32) + (F::INTERLEAVED ? u >> 1 : u) * SCALES);
            if constexpr (F::MINIMUMS) {
                read(sums[t], this->sums + t * (cols / F::CHUNK) + u * CHUNKS);
            }
        }
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            uint4 w[N][WORDS];
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int k = 0; k < WORDS; k++) {
                    w[n][k] = F::levels(lane[n], u, i * WORDS + k);
                }
            }
#pragma unroll
            for (int t = 0; t < T; t++) {
                uint4 v[WORDS];
#pragma unroll
                for (int k = 0; k < WORDS; k++) {
                    v[k] = *(const uint4*) (levels + t * cols + 16 * ((i * WORDS + k) * units + u));
                }
#pragma unroll
                for (int n = 0; n < N; n++) {
                    int dot = 0;
#pragma unroll
                    for (int k = 0; k < WORDS; k++) {
                        dot = dot4(w[n][k].x, v[k].x, dot);
                        dot = dot4(w[n][k].y, v[k].y, dot);
                        dot = dot4(w[n][k].z, v[k].z, dot);
                        dot = dot4(w[n][k].w, v[k].w, dot);
                    }
                    sum[n][t] += (float) (dot * F::scale(lane[n], u, i)) * scale[t][i / PER_SCALE];
                    if constexpr (F::MINIMUMS) {
                        low[n][t] += (float) F::minimum(lane[n], u, i) * sums[t][i];
                    }
                }
            }
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int t = 0; t < T; t++) {
                acc[n][t] += F::factor(lane[n]) * sum[n][t];
                if constexpr (F::MINIMUMS) {
                    acc[n][t] -= F::minimumFactor(lane[n]) * low[n][t];
                }
            }
        }
    }

    // 1, 2 or 4 floats side by side
    template <int N>
    static DEVICE void read(float (&to)[N], const float* from) {
        if constexpr (N == 4) {
            const float4 v = *(const float4*) from;
            to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        } else if constexpr (N == 2) {
            const float2 v = *(const float2*) from;
            to[0] = v.x, to[1] = v.y;
        } else {
            to[0] = from[0];
        }
    }
};
