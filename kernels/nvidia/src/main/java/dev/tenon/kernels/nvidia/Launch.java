package dev.tenon.kernels.nvidia;

import dev.tenon.kernels.nvidia.source.KernelModule;
import java.util.List;

/// One launch of a kernel.
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
        int step) {
    /// Most blocks in the second and third direction.
    private static final int MAX_GRID = 65535;

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
}
