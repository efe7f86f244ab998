// What the kernels of many rows share: PTX of the tensor cores, of asynchronous copies, and of pairs of halves.
// sm_80 or later.
#pragma once
#include "common.cuh"

// Hopper's own matrix instructions exist only where the code is compiled for sm_90a.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TENON_WGMMA 1
#else
#define TENON_WGMMA 0
#endif

// ---- half precision --------------------------------------------------------------------------------------------

// Two floats as halves; `low` lands in the low 16 bits. Beyond the range of halves: infinity.
DEVICE u32 halves(float low, float high) {
    u32 h;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(high), "f"(low));
    return h;
}

DEVICE float clampToHalf(float f) { return fminf(fmaxf(f, -65504.0f), 65504.0f); }

// The same, limited to the largest half.
DEVICE u32 halvesClamped(float low, float high) {
    return halves(clampToHalf(low), clampToHalf(high));
}

DEVICE u32 subHalves(u32 a, u32 b) {
    u32 c;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

DEVICE u32 mulHalves(u32 a, u32 b) {
    u32 c;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

DEVICE u32 fmaHalves(u32 a, u32 b, u32 c) {
    u32 d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

// ---- shared memory ---------------------------------------------------------------------------------------------

DEVICE void storeShared(u32 address, uint4 v) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

// copy16 (common.cuh) to an address in shared memory.
DEVICE void copyAsync(u32 to, const void* from, bool valid) {
    int bytes = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Four 8x8 matrices of halves; lane i gives the address of row i % 8 of matrix i / 8.
DEVICE void loadMatrices(u32 (&r)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

// The same, each matrix transposed.
DEVICE void loadMatricesTransposed(u32 (&r)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

// ---- matrix products -------------------------------------------------------------------------------------------

// c[16][8] += a[16][16] * b[16][8]. Lane 4g + q holds of c: (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1).
DEVICE void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
