package dev.tenon.kernels.nvidia;

/// The blocks of a launch.
///
/// @param x blocks in the first direction
/// @param y in the second
/// @param z in the third
/// @param threads threads of a block
/// @param sharedBytes dynamic shared memory of a block
public record Blocks(int x, int y, int z, int threads, int sharedBytes) {
    /// Most blocks in the second and third direction.
    private static final int MAX_GRID = 65535;

    /// Checks that a device takes them.
    public Blocks {
        if (x < 1 || y < 1 || z < 1 || y > MAX_GRID || z > MAX_GRID) {
            throw new IllegalArgumentException("grid " + x + " x " + y + " x " + z);
        }
        if (threads < 32 || threads > 1024 || sharedBytes < 0) {
            throw new IllegalArgumentException("block " + threads + ", shared memory " + sharedBytes);
        }
    }
}
