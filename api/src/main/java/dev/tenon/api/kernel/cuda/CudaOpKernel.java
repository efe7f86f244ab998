package dev.tenon.api.kernel.cuda;

import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.Kernel;
import org.osgi.annotation.versioning.ConsumerType;

/// A kernel for the CUDA backend, in CUDA C, that computes an op which a model bundle defines
/// itself, a [dev.tenon.api.graph.ReferenceOp]. Without one, GPUs refuse such an op.
///
/// Its source is compiled on the user's machine when a model is placed, by NVRTC. Stateless and
/// safe for any thread.
@ConsumerType
public interface CudaOpKernel extends Kernel {
    /// Most threads of a block.
    int MOST_THREADS = 1024;

    /// {@return whether it computes an op; asked for ops of its kind only}
    ///
    /// @param op the op, with the widths of its inputs and outputs
    default boolean accepts(Op op) {
        return true;
    }

    /// {@return the name of the function that computes a row}
    String function();

    /// Writes the source for one op, whose widths and numbers may stand in it as constants. It
    /// defines
    ///
    /// ```
    /// __device__ void FUNCTION(const float* in0, ..., const float* weight0, ..., float* out0, ...)
    /// ```
    ///
    /// with a pointer to the row of each input, to the decoded elements of each weight and to the
    /// row of each output, in the op's order. All threads of a block call it for the same row: they
    /// share the work by `threadIdx.x`, may use static shared memory and `__syncthreads()`.
    /// Pointers are aligned to 4 bytes. Headers of the C++ library are not there.
    ///
    /// @param op an op that it accepts
    /// @return CUDA C
    String source(Op op);

    /// {@return threads of a block, a multiple of 32, at most [#MOST_THREADS]}
    ///
    /// @param op the op
    default int threads(Op op) {
        return 256;
    }

    /// {@return [Kernel#ANY_FORMAT]: weights are decoded when they are loaded}
    @Override
    default String format() {
        return ANY_FORMAT;
    }

    @Override
    default String deviceKind() {
        return "cuda";
    }
}
