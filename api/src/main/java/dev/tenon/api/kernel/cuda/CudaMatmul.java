package dev.tenon.api.kernel.cuda;

import dev.tenon.api.kernel.Kernel;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// A matrix product that a library computes, such as NVIDIA's cuBLAS, for steps of many rows on the CUDA backend.
///
/// It takes the products without a bias whose weights have its [#format()] and that are not fused with others; steps
/// of few rows, and all other products, stay with the backend's own kernels.
@ConsumerType
public interface CudaMatmul extends Kernel {
    @Override
    default String deviceKind() {
        return "cuda";
    }

    @Override
    default String op() {
        return "linear";
    }

    /// {@return why it cannot run on this machine, such as a library that is missing; empty if it can}
    default Optional<String> refusal() {
        return Optional.empty();
    }

    /// {@return bytes of device memory that its products need besides their operands}
    default long workspaceBytes() {
        return 0;
    }

    /// Prepares products on a stream. The context is that of the calling thread.
    ///
    /// @param context handle of the context (`CUcontext`)
    /// @param stream handle of the stream (`CUstream`)
    /// @param workspace device address of [#workspaceBytes()] bytes for this stream alone, valid until the
    ///     launcher is closed; 0 if none are needed
    /// @return what launches products; closed with the plan
    Launcher open(long context, long stream, long workspace);

    /// Launches products on one stream. Used by one thread at a time, with the context current.
    interface Launcher extends AutoCloseable {
        /// Enqueues `out[r][o] = sum over i of x[r][i] * weight[o][i]`. The stream may be captured meanwhile: what is
        /// enqueued must neither wait nor allocate, and the captured work is run again and again.
        ///
        /// @param x device address of float16 rows of `inputs` elements
        /// @param weight device address of `outputs` rows of `inputs` elements in the kernel's format
        /// @param out device address of float32 rows of `outputs` elements
        /// @param rows rows of `x` and `out`
        /// @param inputs elements of a row of `x`
        /// @param outputs elements of a row of `out`
        void launch(long x, long weight, long out, int rows, int inputs, int outputs);

        /// Releases what it holds; nothing of it is running any more.
        @Override
        void close();
    }
}
