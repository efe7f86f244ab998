// Small kernels for the tests of the cubin loader and of the emulated board.
__constant__ float factors[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__device__ int counter = 7;
__device__ int *counter_address = &counter;
__device__ int zeroed[64];
__device__ int *fourth = &zeroed[3];

extern "C" __global__ void square_plus_one(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = i * i + 1;
    }
}

extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

extern "C" __global__ void add_one(int *value) { *value += 1; }

extern "C" __global__ void scale_by_constant(float *y, int which) { y[threadIdx.x] *= factors[which & 3]; }

extern "C" __global__ void count(int *out) {
    out[0] = atomicAdd(counter_address, 1);
    out[1] = zeroed[threadIdx.x];
    out[2] = *fourth;
}

struct Mixed {
    int a[10];
};

extern "C" __global__ void mixed(Mixed m, char c, short s, double d, int *out) {
    out[0] = m.a[0] + m.a[9] + c + s + (int)d;
}

extern "C" __global__ void block_sum(float *out, const float *x, int n) {
    __shared__ float part[128];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += x[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) {
            part[threadIdx.x] += part[threadIdx.x + k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = part[0];
    }
}

// A local array that is indexed at run time needs a stack.
extern "C" __global__ void local_array(int *out, int n) {
    int a[200];
    for (int i = 0; i < 200; i++) {
        a[i] = i * n;
    }
    out[0] = a[n % 200] + a[(n * 7) % 200];
}

extern "C" __global__ void two_barriers(float *out) {
    __shared__ float part[64];
    part[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 5, 64;");
    out[threadIdx.x] = part[63 - threadIdx.x];
}
