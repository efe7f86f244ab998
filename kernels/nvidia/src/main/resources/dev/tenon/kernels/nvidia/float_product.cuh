// Rows of a weight that is not multiplied as integers, times float activations.
//
// A lane's unit is 16 bytes of F32, F16 or BF16 (four or eight weights), copied as they are, or eight weights of
// somebody else's format, decoded on the way to shared memory.
#pragma once
#include "product.cuh"

// A unit of an ELEMENTS format.
template <class F>
struct Unit {
    static constexpr int WEIGHTS = 16 / F::BYTES;
    static constexpr int PIECES16 = 1;

    uint4 bytes;

    // `vectors`: rows begin at multiples of 16 bytes and hold whole units
    static DEVICE void copy(const Slot& slot, const u8* base, i64, i64 row, int u, int cols, bool vectors, bool there) {
        const u8* from = there ? base + (row * cols + u * WEIGHTS) * F::BYTES : base;
        if (vectors) {
            copy16(slot.piece16(0), from, there);
            return;
        }
        u32 words[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < WEIGHTS; i++) {
            if (there && u * WEIGHTS + i < cols) {
                if constexpr (F::BYTES == 4) {
                    words[i] = ((const u32*) from)[i];
                } else {
                    words[i / 2] |= (u32) ((const u16*) from)[i] << 16 * (i & 1);
                }
            }
        }
        writeShared16(slot.piece16(0), make_uint4(words[0], words[1], words[2], words[3]));
    }

    static DEVICE Unit lane(const Slot& slot) { return Unit{readShared16(slot.piece16(0))}; }

    DEVICE void decode(float* out) const { F::decodeVector(bytes, out); }
};

// A unit of somebody else's format.
template <class F>
struct Unit<Foreign<F>> {
    static constexpr int WEIGHTS = 8;
    static constexpr int PIECES16 = 2;

    float4 values[2];

    static DEVICE void copy(const Slot& slot, const u8* base, i64 blocks, i64 row, int u, int cols, bool, bool there) {
        float v[8] = {};
        if (there) {
            const i64 first = row * cols + u * 8;
            Foreign<F>::decode8(base, blocks, first / F::BLOCK, (int) (first % F::BLOCK), v);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            writeShared16(slot.piece16(i), make_uint4(__float_as_uint(v[4 * i]), __float_as_uint(v[4 * i + 1]),
                    __float_as_uint(v[4 * i + 2]), __float_as_uint(v[4 * i + 3])));
        }
    }

    static DEVICE Unit lane(const Slot& slot) {
        return Unit{{asFloats(readShared16(slot.piece16(0))), asFloats(readShared16(slot.piece16(1)))}};
    }

    DEVICE void decode(float* out) const {
        out[0] = values[0].x, out[1] = values[0].y, out[2] = values[0].z, out[3] = values[0].w;
        out[4] = values[1].x, out[5] = values[1].y, out[6] = values[1].z, out[7] = values[1].w;
    }
};

template <class F, int T>
struct FloatProduct {
    typedef Unit<F> Lane;
    static constexpr int UNIT = Lane::WEIGHTS;
    static constexpr int SPAN = F::KIND == ELEMENTS ? 4 : 1;
    static constexpr int PIECES16 = Lane::PIECES16;
    static constexpr int PIECES4 = 0;

    Input in;
    bool vectors;

    DEVICE FloatProduct(u8*, const Input& in) : in(in), vectors(in.cols % 8 == 0) {}

    static DEVICE int unitCount(int cols) { return (cols + UNIT - 1) / UNIT; }

    static DEVICE int sharedBytes(int) { return 0; }

    struct Weight {
        const u8* base;
        i64 blocks;

        DEVICE Weight() {}

        DEVICE Weight(const u8* base, int rows, int cols, int) : base(base), blocks((i64) rows * cols / F::BLOCK) {}
    };

    DEVICE Weight weight(const u8* base, int rows, int lane) const { return Weight(base, rows, in.cols, lane); }

    static DEVICE Weight choose(bool second, const Weight& a, const Weight& b) {
        Weight w;
        w.base = second ? b.base : a.base;
        w.blocks = second ? b.blocks : a.blocks;
        return w;
    }

    DEVICE void copy(const Slot& slot, const Weight& weight, int row, int u, bool there) const {
        Lane::copy(slot, weight.base, weight.blocks, row, u, in.cols, vectors, there);
    }

    DEVICE Lane lane(const Slot& slot, int, int) const { return Lane::lane(slot); }

    struct Early {};

    static DEVICE Early early() { return Early{}; }

    DEVICE void prepare(const Early&, float (&factor)[T]) {
        float squares[T];
#pragma unroll
        for (int t = 0; t < T; t++) {
            squares[t] = 0.f;
            for (int c = threadIdx.x; in.norm != nullptr && c < in.cols; c += blockDim.x) {
                const float v = in.x[(i64) t * in.cols + c];
                squares[t] += v * v;
            }
            squares[t] = sumOver(squares[t], 32);
        }
        normFactors<T>(in, squares, 1.f / in.cols, factor);
    }

    // a unit's floats of an array of `cols`; 0 behind its end
    DEVICE void read(const float* from, int u, float (&to)[UNIT]) const {
        if (vectors) {
#pragma unroll
            for (int i = 0; i < UNIT; i += 4) {
                const float4 v = *(const float4*) (from + u * UNIT + i);
                to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
            }
        } else {
#pragma unroll
            for (int i = 0; i < UNIT; i++) {
                to[i] = u * UNIT + i < in.cols ? from[u * UNIT + i] : 0.f;
            }
        }
    }

    template <int N>
    DEVICE void add(const Lane (&lane)[N], int u, float (&acc)[N][T]) const {
        float w[N][UNIT];
        float v[UNIT];
#pragma unroll
        for (int n = 0; n < N; n++) {
            lane[n].decode(w[n]);
        }
        if (in.norm != nullptr) {
            read(in.norm, u, v);
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int i = 0; i < UNIT; i++) {
                    w[n][i] *= v[i];
                }
            }
        }
#pragma unroll
        for (int t = 0; t < T; t++) {
            read(in.x + (i64) t * in.cols, u, v);
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int i = 0; i < UNIT; i++) {
                    acc[n][t] += w[n][i] * v[i];
                }
            }
        }
    }
};
