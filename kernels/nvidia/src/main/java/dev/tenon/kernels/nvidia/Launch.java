package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.List;
import java.util.Optional;

/// One launch of a kernel, or a product that a library computes instead: then the arguments are those of
/// [CudaMatmul.Launcher#launch], and there is neither module nor geometry.
///
/// @param module where the kernel is
/// @param entry its name
/// @param gridX blocks
/// @param gridY blocks
/// @param gridZ blocks
/// @param block threads of a block
/// @param sharedBytes dynamic shared memory of a block
/// @param clusterZ blocks in the third direction that form a cluster; 1 for none
/// @param arguments parameters in order; unmodifiable
/// @param step index of the op that it belongs to, in `PlannedGraph.steps()`
/// @param library what computes it; empty for a kernel
public record Launch(
        KernelModule module,
        String entry,
        int gridX,
        int gridY,
        int gridZ,
        int block,
        int sharedBytes,
        int clusterZ,
        List<Argument> arguments,
        int step,
        Optional<CudaMatmul> library) {
    /// Most blocks in the second and third direction.
    private static final int MAX_GRID = 65535;

    private static final KernelModule NONE = KernelModule.of("library.none");

    /// Checks the geometry and copies the list.
    public Launch {
        arguments = List.copyOf(arguments);
        if (gridX < 1 || gridY < 1 || gridZ < 1 || gridY > MAX_GRID || gridZ > MAX_GRID) {
            throw new IllegalArgumentException(entry + ": grid " + gridX + " x " + gridY + " x " + gridZ);
        }
        if (block < 32 || block > 1024 || sharedBytes < 0) {
            throw new IllegalArgumentException(entry + ": block " + block + ", shared memory " + sharedBytes);
        }
    }

    /// A launch of a kernel.
    public Launch(
            KernelModule module,
            String entry,
            int gridX,
            int gridY,
            int gridZ,
            int block,
            int sharedBytes,
            int clusterZ,
            List<Argument> arguments,
            int step) {
        this(module, entry, gridX, gridY, gridZ, block, sharedBytes, clusterZ, arguments, step, Optional.empty());
    }

    /// {@return a product that a library computes}
    ///
    /// @param library the library's kernel
    /// @param arguments its arguments
    /// @param step index of the op
    public static Launch of(CudaMatmul library, List<Argument> arguments, int step) {
        return new Launch(NONE, library.name(), 1, 1, 1, 32, 0, 1, arguments, step, Optional.of(library));
    }
}
