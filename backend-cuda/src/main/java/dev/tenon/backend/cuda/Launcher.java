package dev.tenon.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.backend.cuda.CudaDriver.Hot;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Launch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/// Launches kernels on a stream, as `cuLaunchKernelEx` takes them:
///
/// ```
/// config     | grid x y z | block x y z | sharedBytes | - | stream | attributes | count | -
/// 56 bytes
/// attribute  | id | - | value (64 bytes)
/// 72 bytes
/// ```
final class Launcher {
    private static final long CONFIG_BYTES = 56;
    private static final long ATTRIBUTE_BYTES = 72;
    private static final int CLUSTER_DIMENSION = 4;
    private static final int PROGRAMMATIC_STREAM_SERIALIZATION = 6;

    private final KernelLoader kernels;
    private final PlanMemory memory;
    private final Map<String, String> headers;
    private final boolean programmatic;

    /// @param kernels has the modules of the launches
    /// @param memory addresses of buffers
    /// @param headers headers of third parties, by name
    /// @param programmatic whether a kernel may start before its predecessor has ended
    Launcher(KernelLoader kernels, PlanMemory memory, Map<String, String> headers, boolean programmatic) {
        this.kernels = kernels;
        this.memory = memory;
        this.headers = headers;
        this.programmatic = programmatic;
    }

    /// Loads the functions of launches.
    void prepare(List<Launch> launches) {
        launches.forEach(l -> kernels.function(l.module(), headers, l.entry(), l.sharedBytes()));
    }

    /// Launches kernels in order.
    ///
    /// @param launches what to launch
    /// @param stream where
    void launch(List<Launch> launches, long stream) {
        for (int i = 0; i < launches.size(); i++) {
            // The first one waits for the copy of the step's input, which has no such trigger.
            launch(launches.get(i), stream, programmatic && i > 0);
        }
    }

    /// Launches one kernel.
    ///
    /// @param launch what
    /// @param stream where
    /// @param early whether it may start before its predecessor has ended
    void launch(Launch launch, long stream, boolean early) {
        long function = kernels.function(launch.module(), headers, launch.entry(), launch.sharedBytes());
        try (Arena arena = Arena.ofConfined()) {
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
            if (early) {
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
            Hot.launchKernel(config, function, arguments(arena, launch.arguments()), launch.entry());
        }
    }

    /// An array of pointers, one to each parameter's value.
    private MemorySegment arguments(Arena arena, List<Argument> arguments) {
        MemorySegment pointers = arena.allocate(ADDRESS, Math.max(1, arguments.size()));
        for (int i = 0; i < arguments.size(); i++) {
            MemorySegment value = switch (arguments.get(i)) {
                case Argument.Address a -> arena.allocateFrom(JAVA_LONG, memory.address(a));
                case Argument.Int n -> arena.allocateFrom(JAVA_INT, n.value());
                case Argument.Long n -> arena.allocateFrom(JAVA_LONG, n.value());
                case Argument.Float f -> arena.allocateFrom(JAVA_FLOAT, f.value());
            };
            pointers.setAtIndex(ADDRESS, i, value);
        }
        return pointers;
    }
}
