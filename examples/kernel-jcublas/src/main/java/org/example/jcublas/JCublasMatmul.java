package org.example.jcublas;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import java.util.Optional;
import jcuda.Pointer;
import jcuda.cudaDataType;
import jcuda.driver.CUstream;
import jcuda.jcublas.JCublas2;
import jcuda.jcublas.cublasComputeType;
import jcuda.jcublas.cublasGemmAlgo;
import jcuda.jcublas.cublasHandle;
import jcuda.jcublas.cublasOperation;
import jcuda.jcublas.cublasStatus;
import jcuda.runtime.cudaStream_t;

/// A product of F16 weights and F16 rows, summed and stored in float32 by cuBLAS.
final class JCublasMatmul implements CudaMatmul {
    /// What NVIDIA recommends for Hopper. With a workspace of its own, cuBLAS allocates nothing while a graph is captured.
    private static final long WORKSPACE_BYTES = 32L << 20;

    @Override
    public String name() {
        return "jcublas.f16";
    }

    @Override
    public String format() {
        return "F16";
    }

    @Override
    public long workspaceBytes() {
        return WORKSPACE_BYTES;
    }

    @Override
    public Optional<String> refusal() {
        return Library.MISSING;
    }

    @Override
    public Launcher open(long context, long stream, long workspace) {
        return new Products(stream, workspace);
    }

    /// Whether JCublas can be loaded: tried once.
    private static final class Library {
        static final Optional<String> MISSING = missing();

        private static Optional<String> missing() {
            try {
                JCublas2.setExceptionsEnabled(false);
                return Optional.empty();
            } catch (LinkageError e) {
                // JCuda's message has dozens of lines.
                return Optional.of(String.valueOf(e.getMessage())
                        .lines()
                        .filter(line -> line.contains("cannot open shared object"))
                        .findFirst()
                        .orElse(e.toString())
                        .replaceFirst(".*?(\\w+\\.so\\S*: cannot)", "$1")
                        .strip());
            }
        }
    }

    /// The products of one plan.
    private static final class Products implements Launcher {
        private static final Pointer ONE = Pointer.to(new float[] {1});
        private static final Pointer ZERO = Pointer.to(new float[] {0});

        private final cublasHandle handle = new cublasHandle();

        Products(long stream, long workspace) {
            check(JCublas2.cublasCreate(handle), "cublasCreate");
            boolean done = false;
            try {
                cudaStream_t stream_t = new cudaStream_t(Handles.set(new CUstream(), stream));
                check(JCublas2.cublasSetStream(handle, stream_t), "cublasSetStream");
                check(
                        JCublas2.cublasSetWorkspace(handle, Handles.set(new Pointer(), workspace), WORKSPACE_BYTES),
                        "cublasSetWorkspace");
                done = true;
            } finally {
                if (!done) {
                    close();
                }
            }
        }

        /// cuBLAS has columns where we have rows: it computes the transposed product, `out' = weight x'`.
        @Override
        public void launch(long x, long weight, long out, int rows, int inputs, int outputs) {
            check(
                    JCublas2.cublasGemmEx_new(
                            handle,
                            cublasOperation.CUBLAS_OP_T,
                            cublasOperation.CUBLAS_OP_N,
                            outputs,
                            rows,
                            inputs,
                            ONE,
                            Handles.set(new Pointer(), weight),
                            cudaDataType.CUDA_R_16F,
                            inputs,
                            Handles.set(new Pointer(), x),
                            cudaDataType.CUDA_R_16F,
                            inputs,
                            ZERO,
                            Handles.set(new Pointer(), out),
                            cudaDataType.CUDA_R_32F,
                            outputs,
                            cublasComputeType.CUBLAS_COMPUTE_32F,
                            cublasGemmAlgo.CUBLAS_GEMM_DEFAULT),
                    "cublasGemmEx");
        }

        @Override
        public void close() {
            check(JCublas2.cublasDestroy(handle), "cublasDestroy");
        }

        private static void check(int status, String call) {
            if (status != cublasStatus.CUBLAS_STATUS_SUCCESS) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED, call + " failed: " + cublasStatus.stringFor(status), status, null);
            }
        }
    }
}
