package dev.tenon.kernels.nvidia.binding;

/// The function and the geometry of a launch.
///
/// @param function handle of the kernel
/// @param name its name, for messages
/// @param gridX blocks
/// @param gridY blocks
/// @param gridZ blocks
/// @param block threads of a block
/// @param sharedBytes dynamic shared memory of a block
/// @param clusterZ blocks in the third direction that form a cluster; 1 for none
/// @param early whether it may start before its predecessor has ended (programmatic dependent launch)
public record KernelLaunch(
        long function,
        String name,
        int gridX,
        int gridY,
        int gridZ,
        int block,
        int sharedBytes,
        int clusterZ,
        boolean early) {
    /// {@return whether it needs attributes, which `cuLaunchKernel` does not have}
    public boolean hasAttributes() {
        return early || clusterZ > 1;
    }
}
