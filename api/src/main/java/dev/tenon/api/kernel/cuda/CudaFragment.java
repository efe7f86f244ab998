package dev.tenon.api.kernel.cuda;

import dev.tenon.api.kernel.Kernel;

/// A CUDA C block decoder for the NVIDIA backends' fused kernels.
///
/// @param name what reports call it
/// @param format the weight format it decodes
/// @param source CUDA C that defines `__device__ void FUNCTION(const unsigned char* block, float* values)`
/// @param function name of that function
public record CudaFragment(String name, String format, String source, String function) implements Kernel {
    @Override
    public String deviceKind() {
        return "cuda";
    }

    @Override
    public String op() {
        return "linear";
    }
}
