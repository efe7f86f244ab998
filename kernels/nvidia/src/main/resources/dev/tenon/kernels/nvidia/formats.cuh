// The weight formats, and which of them this compilation is about.
//
//   -DTENON_FORMAT=Q6_K        one of the structs below, or a layout: the files of Q4_0, Q4_1 and IQ4_NL are made of the
//                              formats' layouts (LayoutSource) and say what layout.cuh expects
//   -DTENON_FORMAT=NAME -DTENON_FORMAT_FILE="format_NAME.cuh"      a format of somebody else; the file defines NAME, its
//                              layout as layout.cuh says, or a decoder:
//
//       struct NAME {
//           static constexpr int BLOCK = 256;   // weights in a block, a multiple of 8
//           static constexpr int BYTES = 144;   // bytes of a block
//           // writes the weights first .. first + 7 of a block (first is a multiple of 8); any alignment of `block`
//           static __device__ void decode8(const u8* block, int first, float* out);
//       };
//
// A built-in format is one of three kinds:
//
//   ELEMENTS   F32, F16, BF16: a row has any number of weights
//   BLOCKS     somebody else's: decoded to floats, eight at a time
//   INTEGERS   quantised; multiplied as integers. `decode8(base, blocks, block, first, out)` gives floats; the rest of
//              such a struct is for linear.cuh:
//
//       UNIT    weights that a lane takes at once       CHUNK    weights under one scale
//       piece16  where the i-th 16 bytes of unit `corner` of the tensor's first block are, i < PIECES16; those of the
//                same unit of block b are b * STRIDE further on; a block has 1 << BLOCK_UNITS units
//       piece4   where the i-th 4 bytes of the tensor's first unit are, i < PIECES4; those of unit u are
//                4 * (u >> shift4(i)) further on
//       STEP16  (formats that have it) bytes from a 16-byte piece to the next one of the same unit
//       ODD_SHIFT (formats that have it) levels of odd chunks come 1 << ODD_SHIFT times too large
//       PAIRS   (only Q8_0) blocks lie in pairs: pairs, sixteens instead of piece16
//       Lane, lane        what is kept of a unit in registers, made of the pieces
//       levels  the i-th 16 weights of the unit as 16 bytes in four words (shifted as `factor` undoes), signed unless
//               the format has MINIMUMS
//       scale, minimum, factor, minimumFactor      of the i-th chunk and of the unit:
//               weight = factor * scale * level - minimumFactor * minimum
//       INTERLEAVED   false: 16 weights number i of unit u are the weights UNIT*u + 16i ...
//                     true:  256 weights are four units (h, s): 16 weights number p are 128h + 32p + 16s ...
#pragma once
#include "common.cuh"

enum FormatKind { ELEMENTS, BLOCKS, INTEGERS };

#include "layout.cuh"

#include "format_BF16.cuh"
#include "format_F16.cuh"
#include "format_F32.cuh"
#include "format_IQ4_NL.cuh"
#include "format_IQ4_XS.cuh"
#include "format_MXFP4.cuh"
#include "format_Q2_K.cuh"
#include "format_Q3_K.cuh"
#include "format_Q4_0.cuh"
#include "format_Q4_1.cuh"
#include "format_Q4_K.cuh"
#include "format_Q5_0.cuh"
#include "format_Q5_1.cuh"
#include "format_Q5_K.cuh"
#include "format_Q6_K.cuh"
#include "format_Q8_0.cuh"

// Gives somebody else's format the shape of ours.
template <class F>
struct Foreign {
    static constexpr FormatKind KIND = BLOCKS;
    static constexpr int BLOCK = F::BLOCK;

    static DEVICE void decode8(const u8* base, i64, i64 block, int first, float* out) {
        F::decode8(base + block * F::BYTES, first, out);
    }
};

// A layout, a decoder or one of ours as a format.
template <class F, class = void, class = void>
struct Shaped {
    typedef Foreign<F> Type;
};
template <class F>
struct Shaped<F, decltype((void) F::BITS), void> {
    typedef FromLayout<F> Type;
};
template <class F>
struct Shaped<F, void, decltype((void) F::KIND)> {
    typedef F Type;
};

#ifdef TENON_FORMAT_FILE
#include TENON_FORMAT_FILE
#endif
#ifdef TENON_FORMAT
typedef Shaped<TENON_FORMAT>::Type Format;
#endif

// entry names: TENON_ENTRY(linear_, _t1) is linear_Q6_K_t1
#define TENON_JOIN3_(a, b, c) a##b##c
#define TENON_JOIN3(a, b, c) TENON_JOIN3_(a, b, c)
#define TENON_ENTRY(family, suffix) TENON_JOIN3(family, TENON_FORMAT, suffix)
