package dev.tenon.backend.cuda.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.kernels.nvidia.binding.KernelLaunch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The structure that `cuLaunchKernelEx` takes:
///
/// ```
/// config     | grid x y z | block x y z | sharedBytes | - | stream | attributes | count | -
/// 56 bytes
/// attribute  | id | - | value (64 bytes)
/// 72 bytes
/// ```
final class LaunchConfig {
    private static final long CONFIG_BYTES = 56;
    private static final long ATTRIBUTE_BYTES = 72;
    private static final int CLUSTER_DIMENSION = 4;
    private static final int PROGRAMMATIC_STREAM_SERIALIZATION = 6;

    private LaunchConfig() {}

    /// {@return a launch as the driver takes it}
    ///
    /// @param arena where
    /// @param launch the launch
    /// @param stream its stream
    static MemorySegment of(Arena arena, KernelLaunch launch, long stream) {
        MemorySegment config = arena.allocate(CONFIG_BYTES, 8);
        config.set(JAVA_INT, 0, launch.gridX());
        config.set(JAVA_INT, 4, launch.gridY());
        config.set(JAVA_INT, 8, launch.gridZ());
        config.set(JAVA_INT, 12, launch.block());
        config.set(JAVA_INT, 16, 1);
        config.set(JAVA_INT, 20, 1);
        config.set(JAVA_INT, 24, launch.sharedBytes());
        config.set(JAVA_LONG, 32, stream);
        MemorySegment attributes = arena.allocate(2 * ATTRIBUTE_BYTES, 8);
        int count = 0;
        if (launch.early()) {
            attributes.set(JAVA_INT, 0, PROGRAMMATIC_STREAM_SERIALIZATION);
            attributes.set(JAVA_INT, 8, 1);
            count++;
        }
        if (launch.clusterZ() > 1) {
            long at = count * ATTRIBUTE_BYTES;
            attributes.set(JAVA_INT, at, CLUSTER_DIMENSION);
            attributes.set(JAVA_INT, at + 8, 1);
            attributes.set(JAVA_INT, at + 12, 1);
            attributes.set(JAVA_INT, at + 16, launch.clusterZ());
            count++;
        }
        config.set(ADDRESS, 40, attributes);
        config.set(JAVA_INT, 48, count);
        return config;
    }
}
