package dev.tenon.kernels.nvidia;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/// The source of a bundle's kernel for its own op, with the entry that a launch calls.
///
/// @param entry name of the entry
/// @param text CUDA C
/// @param threads threads of a block
public record OwnOpSource(String entry, String text, int threads) {
    private static final int WARP = 32;

    /// {@return the source for an op}
    ///
    /// @param kernel a kernel that accepts it
    /// @param op the op
    /// @throws BackendException (`BACKEND-003`) if the kernel does not give what it has to
    public static OwnOpSource of(CudaOpKernel kernel, ReferenceOp op) {
        int threads;
        String source;
        try {
            threads = kernel.threads(op);
            source = kernel.source(op);
        } catch (RuntimeException e) {
            throw refusal(kernel, op, "fails: " + e, e);
        }
        if (threads < WARP || threads > CudaOpKernel.MOST_THREADS || threads % WARP != 0) {
            throw refusal(
                    kernel,
                    op,
                    "asks for " + threads + " threads; expected a multiple of " + WARP + " up to "
                            + CudaOpKernel.MOST_THREADS,
                    null);
        }
        // Modules are told apart by name: other text gets another one.
        UUID id = UUID.nameUUIDFromBytes(text(kernel, op, source, "").getBytes(StandardCharsets.UTF_8));
        String entry = "own_" + op.kind().replaceAll("[^A-Za-z0-9]", "_") + "_"
                + id.toString().replace("-", "").substring(0, 16);
        return new OwnOpSource(entry, text(kernel, op, source, entry), threads);
    }

    private static String text(CudaOpKernel kernel, ReferenceOp op, String source, String entry) {
        List<String> parameters = new ArrayList<>();
        List<String> arguments = new ArrayList<>();
        int count = 0;
        for (Value input : op.inputs()) {
            add(parameters, arguments, "const float* in" + count++, input.width());
        }
        count = 0;
        for (Weight _ : op.weights()) {
            add(parameters, arguments, "const float* weight" + count++, 0);
        }
        count = 0;
        for (Value output : op.outputs()) {
            add(parameters, arguments, "float* out" + count++, output.width());
        }
        return """
                // %s, for op %s.
                %s

                extern "C" __global__ void %s(%s) {
                #if __CUDA_ARCH__ >= 900
                    // Launched before the kernels are done whose results it reads (common.cuh).
                    asm volatile("griddepcontrol.launch_dependents;");
                    asm volatile("griddepcontrol.wait;" ::: "memory");
                #endif
                    const size_t row = blockIdx.x;
                    %s(%s);
                }
                """.formatted(
                        kernel.name(),
                        op.kind(),
                        source,
                        entry,
                        String.join(", ", parameters),
                        kernel.function(),
                        String.join(", ", arguments));
    }

    private static void add(List<String> parameters, List<String> arguments, String parameter, int width) {
        parameters.add(parameter);
        String name = parameter.substring(parameter.lastIndexOf(' ') + 1);
        arguments.add(width == 0 ? name : name + " + row * " + width);
    }

    private static BackendException refusal(CudaOpKernel kernel, ReferenceOp op, String problem, Throwable cause) {
        return new BackendException(
                ErrorCode.BACKEND_FAILED,
                "kernel " + kernel.name() + " (" + kernel.getClass().getName() + ") for op " + op.kind() + " -> "
                        + op.outputs() + " " + problem,
                0,
                cause);
    }

    /// {@return the module that has the entry}
    public KernelModule module() {
        return KernelModule.of(entry + ".cu");
    }
}
