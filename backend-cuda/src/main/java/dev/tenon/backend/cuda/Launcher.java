package dev.tenon.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.backend.cuda.binding.KernelLaunch;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Launch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/// Launches kernels on a stream.
final class Launcher {
    private final CudaContext context;
    private final KernelLoader kernels;
    private final PlanMemory memory;
    private final Map<String, String> headers;
    private final boolean programmatic;

    /// @param context the device's
    /// @param kernels has the modules of the launches
    /// @param memory addresses of buffers
    /// @param headers headers of third parties, by name
    /// @param programmatic whether a kernel may start before its predecessor has ended
    Launcher(
            CudaContext context,
            KernelLoader kernels,
            PlanMemory memory,
            Map<String, String> headers,
            boolean programmatic) {
        this.context = context;
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
            KernelLaunch kernel = new KernelLaunch(
                    function,
                    launch.entry(),
                    launch.gridX(),
                    launch.gridY(),
                    launch.gridZ(),
                    launch.block(),
                    launch.sharedBytes(),
                    launch.clusterZ(),
                    early);
            context.binding().launchKernel(kernel, arguments(arena, launch.arguments()), stream);
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
