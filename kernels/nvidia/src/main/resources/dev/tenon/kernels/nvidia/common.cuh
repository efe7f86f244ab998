// What every kernel uses: short integer names, half precision, warp sums, dependent launch.
//
// No header of the host or of CUDA is included, so that NVRTC needs no include path.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE __device__ __forceinline__
#define FULL_WARP 0xffffffffu

// f16 bits <-> float
DEVICE float halfToFloat(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

DEVICE u16 floatToHalf(float value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

// 2^x in one instruction; 0 instead of numbers below 2^-126
DEVICE float powerOfTwo(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// 1 / x in one instruction, for |x| from 2^-126 to 2^126
DEVICE float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DEVICE float lowHalf(u32 pair) { return halfToFloat((u16) pair); }

DEVICE float highHalf(u32 pair) { return halfToFloat((u16) (pair >> 16)); }

// bf16 is the upper half of a float32
DEVICE float bfloatToFloat(u16 bits) { return __uint_as_float((u32) bits << 16); }

DEVICE float4 asFloats(uint4 v) {
    return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w));
}

// the i-th byte of a word, with its sign: one instruction, where __byte_perm would leave the sign out
DEVICE int signedByte(u32 word, int i) {
    int r;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(r) : "r"(word), "r"(0x8880 + 0x1111 * i));
    return r;
}

// a & b | c, (a & b) ^ c and mask & a | ~mask & b, each one instruction
DEVICE u32 andOr(u32 a, u32 b, u32 c) {
    u32 r;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

DEVICE u32 andXor(u32 a, u32 b, u32 c) {
    u32 r;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

DEVICE u32 either(u32 mask, u32 a, u32 b) {
    u32 r;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(mask), "r"(a), "r"(b));
    return r;
}

// c + the sum of the products of four unsigned bytes of a with four signed bytes of b
DEVICE int dotUnsigned(u32 a, u32 b, int c) {
    int r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// Keeps the compiler from computing a pointer anew in every round of a loop.
DEVICE const u8* kept(const u8* p) {
    asm("" : "+l"(p));
    return p;
}

// Sum and maximum over aligned groups of `lanes` lanes (a power of two); every lane gets the result.
DEVICE float sumOver(float value, int lanes) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        if (o < lanes) {
            value += __shfl_xor_sync(FULL_WARP, value, o);
        }
    }
    return value;
}

// Sums of two values over aligned groups of `lanes` >= 2 lanes: even lanes get that of `a`, odd lanes that of `b`. All
// lanes take part in every exchange, so that no branch is needed.
DEVICE float sumTwoOver(float a, float b, int lanes, bool odd) {
    float sum = odd ? b : a;
    sum += __shfl_xor_sync(FULL_WARP, odd ? a : b, 1);
#pragma unroll
    for (int o = 2; o < 32; o <<= 1) {
        const float other = __shfl_xor_sync(FULL_WARP, sum, o);
        sum += o < lanes ? other : 0.f;
    }
    return sum;
}

DEVICE float maxOver(float value, int lanes) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        if (o < lanes) {
            value = fmaxf(value, __shfl_xor_sync(FULL_WARP, value, o));
        }
    }
    return value;
}

// Sum over the block, for all threads. `scratch` holds a float a warp and is free again after the next barrier.
DEVICE float sumOverBlock(float value, float* scratch) {
    const int lane = threadIdx.x & 31;
    const int warps = (blockDim.x + 31) >> 5;
    value = sumOver(value, 32);
    if (lane == 0) {
        scratch[threadIdx.x >> 5] = value;
    }
    __syncthreads();
    return sumOver(lane < warps ? scratch[lane] : 0.f, 32);
}

// Programmatic dependent launch (compute capability 9.0 and up; nothing before).
//
//   kernel N    |--launchDependents--|------ work ------|
//   kernel N+1                       |- read weights -|  waitForInputs |--- work ---|
//
// Before waitForInputs() a kernel reads only what no kernel of the same step writes: weights, the step's tokens and
// page tables, keys and values of earlier steps. It returns when all kernels before it have finished.
DEVICE void launchDependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

DEVICE void waitForInputs() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Copies of 16 or 4 bytes from global to shared memory that run by themselves. `there` = false writes zeros. Copies
// belong to groups: copiesEnd() closes one, copiesWait<N>() returns when all but the thread's newest N groups have
// arrived.
DEVICE u32 sharedAddress(const void* p) { return (u32) __cvta_generic_to_shared(p); }

DEVICE void copy16(u32 to, const void* from, bool there) {
    const int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
}

DEVICE void copy4(u32 to, const void* from, bool there) {
    const int bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes));
}

DEVICE uint4 readShared16(u32 from) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from));
    return v;
}

DEVICE u32 readShared4(u32 from) {
    u32 v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(from));
    return v;
}

DEVICE void writeShared16(u32 to, uint4 v) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
}

DEVICE void copiesEnd() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
DEVICE void copiesWait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Shared memory that the launch asked for, beyond what the kernel declares.
DEVICE u32 dynamicSharedBytes() {
    u32 bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

// Attention without sinks, without a scale that grows with the position, without runs of positions and with a causal
// mask: with TENON_PLAIN, what they need is compiled out.
#ifdef TENON_PLAIN
constexpr bool PLAIN = true;
#else
constexpr bool PLAIN = false;
#endif

// What a row of a position is scaled with, so that a softmax over more keys is not flatter.
DEVICE float positionFactor(float gain, int offset, int period, int position) {
    return gain == 0.f ? 1.f : 1.f + gain * __logf(1 + (u32) (position + offset) / (u32) period);
}

// The activation functions, numbered as the graph's enum. All but those of RELU are a sigmoid of something, so that one
// exponential is all the code there is, wherever this is inlined. The last of the results is SILU's. The normal
// distribution of GELU_ERF is a sigmoid of a polynomial, fitted to 3.3e-6 of the result; beyond 5 it is 0 or 1.
DEVICE float activated(float x, int activation) {
    if (activation == /* RELU */ 2 || activation == /* RELU_SQUARED */ 3) {
        return fmaxf(x, 0.f) * (activation == 2 ? 1.f : x);
    }
    // tanh(z) = 2 sigmoid(2 z) - 1
    const float square = fminf(x * x, 25.f);
    const float z = activation == /* GELU_TANH */ 1  ? 1.5957691216f * (x + 0.044715f * x * x * x)
                    : activation == /* TANH */ 5     ? 2.f * x
                    : activation == /* GELU_ERF */ 6 ? x * (1.5956584f + square * (0.072931378f + square * (-2.4592150e-4f + square * (-6.1910786e-5f + square * 2.2820085e-6f))))
                                                     : x;
    const float sigmoid = __fdividef(1.f, 1.f + __expf(-z));
    return activation == 5 ? 2.f * sigmoid - 1.f : activation == /* SIGMOID */ 4 ? sigmoid : x * sigmoid;
}
