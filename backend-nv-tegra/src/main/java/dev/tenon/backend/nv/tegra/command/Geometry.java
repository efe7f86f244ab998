package dev.tenon.backend.nv.tegra.command;

/// Blocks of a launch and threads of a block.
///
/// @param gridX blocks, 1 to 2^31 - 1
/// @param gridY blocks, 1 to 65535
/// @param gridZ blocks, 1 to 65535
/// @param blockX threads, 1 to 1024; at most 1024 in all
/// @param blockY threads, 1 to 1024
/// @param blockZ threads, 1 to 64
public record Geometry(int gridX, int gridY, int gridZ, int blockX, int blockY, int blockZ) {
    private static final int MAX_GRID = 65535;
    private static final int MAX_THREADS = 1024;
    private static final int MAX_BLOCK_Z = 64;

    /// Checks the limits.
    public Geometry {
        if (gridX < 1 || gridY < 1 || gridZ < 1 || gridY > MAX_GRID || gridZ > MAX_GRID) {
            throw new IllegalArgumentException("grid of " + gridX + " x " + gridY + " x " + gridZ
                    + " blocks; expected at least 1 each, and at most " + MAX_GRID + " in y and z");
        }
        if (blockX < 1
                || blockY < 1
                || blockZ < 1
                || blockZ > MAX_BLOCK_Z
                || (long) blockX * blockY * blockZ > MAX_THREADS) {
            throw new IllegalArgumentException("block of " + blockX + " x " + blockY + " x " + blockZ
                    + " threads; expected 1 to " + MAX_THREADS + " in all, and at most " + MAX_BLOCK_Z + " in z");
        }
    }

    /// {@return a geometry of one dimension}
    ///
    /// @param blocks number of blocks
    /// @param threads threads of a block
    public static Geometry of(int blocks, int threads) {
        return new Geometry(blocks, 1, 1, threads, 1, 1);
    }

    /// {@return threads of a block}
    public int threads() {
        return blockX * blockY * blockZ;
    }
}
