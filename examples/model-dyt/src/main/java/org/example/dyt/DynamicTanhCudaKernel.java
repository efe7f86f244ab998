package org.example.dyt;

import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.cuda.CudaOpKernel;

/// The op on NVIDIA GPUs: the threads of a block share the elements of a row.
final class DynamicTanhCudaKernel implements CudaOpKernel {
    @Override
    public String name() {
        return "dynamic_tanh.cuda";
    }

    @Override
    public String op() {
        return DynamicTanh.KIND;
    }

    @Override
    public String function() {
        return "dynamic_tanh";
    }

    @Override
    public String source(Op op) {
        return """
                __device__ void dynamic_tanh(
                        const float* x, const float* alpha, const float* weight, const float* bias, float* out) {
                    for (int i = threadIdx.x; i < %d; i += blockDim.x) {
                        out[i] = weight[i] * tanhf(alpha[0] * x[i]) + bias[i];
                    }
                }
                """.formatted(op.outputs().getFirst().width());
    }
}
