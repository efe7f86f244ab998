package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.List;
import java.util.Optional;

/// One launch of a kernel, or a product that a library computes instead: then the arguments are those of
/// [CudaMatmul.Launcher#launch], and there is no module.
///
/// @param module where the kernel is
/// @param entry its name
/// @param blocks its blocks
/// @param clusterZ blocks in the third direction that form a cluster; 1 for none
/// @param arguments parameters in order; unmodifiable
/// @param step index of the op that it belongs to, in `PlannedGraph.steps()`
/// @param library what computes it; empty for a kernel
public record Launch(
        KernelModule module,
        String entry,
        Blocks blocks,
        int clusterZ,
        List<Argument> arguments,
        int step,
        Optional<CudaMatmul> library) {
    private static final KernelModule NONE = KernelModule.of("library.none");

    /// Copies the list.
    public Launch {
        arguments = List.copyOf(arguments);
    }

    /// A launch of a kernel.
    public Launch(KernelModule module, String entry, Blocks blocks, int clusterZ, List<Argument> arguments, int step) {
        this(module, entry, blocks, clusterZ, arguments, step, Optional.empty());
    }

    /// {@return a product that a library computes}
    ///
    /// @param library the library's kernel
    /// @param arguments its arguments
    /// @param step index of the op
    public static Launch of(CudaMatmul library, List<Argument> arguments, int step) {
        Blocks none = new Blocks(1, 1, 1, 32, 0);
        return new Launch(NONE, library.name(), none, 1, arguments, step, Optional.of(library));
    }
}
