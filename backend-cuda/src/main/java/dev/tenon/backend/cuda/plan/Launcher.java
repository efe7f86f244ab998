package dev.tenon.backend.cuda.plan;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.backend.cuda.device.Closing;
import dev.tenon.backend.cuda.device.CudaAllocator;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Blocks;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.binding.KernelLaunch;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Launches kernels on a stream, and products that libraries compute on the plan's stream. Closed by the plan.
final class Launcher implements AutoCloseable {
    private final CudaContext context;
    private final CudaAllocator allocator;
    private final KernelLoader kernels;
    private final PlanMemory memory;
    private final Map<String, String> headers;
    private final boolean programmatic;
    private final Map<CudaMatmul, CudaMatmul.Launcher> libraries = new HashMap<>();
    private final List<CudaAllocator.Buffer> workspaces = new ArrayList<>();

    /// @param context the plan's
    /// @param allocator gives libraries their workspace
    /// @param kernels has the modules of the launches
    /// @param memory addresses of buffers
    /// @param headers headers of third parties, by name
    /// @param programmatic whether a kernel may start before its predecessor has ended
    Launcher(
            CudaContext context,
            CudaAllocator allocator,
            KernelLoader kernels,
            PlanMemory memory,
            Map<String, String> headers,
            boolean programmatic) {
        this.context = context;
        this.allocator = allocator;
        this.kernels = kernels;
        this.memory = memory;
        this.headers = headers;
        this.programmatic = programmatic;
    }

    /// Loads modules.
    void load(List<KernelModule> modules) {
        kernels.load(modules, headers);
    }

    /// Loads the functions of launches, and opens their libraries.
    void prepare(List<Launch> launches) {
        for (Launch l : launches) {
            if (l.library().isPresent()) {
                libraries.computeIfAbsent(l.library().get(), this::open);
            } else {
                kernels.function(l.module(), headers, l.entry(), l.blocks().sharedBytes());
            }
        }
    }

    private CudaMatmul.Launcher open(CudaMatmul library) {
        long workspace = 0;
        if (library.workspaceBytes() > 0) {
            CudaAllocator.Buffer buffer =
                    allocator.allocateRaw(library.workspaceBytes(), "workspace of " + library.name());
            workspaces.add(buffer);
            workspace = buffer.address();
        }
        return library.open(context.context(), context.stream(), workspace);
    }

    /// Launches kernels in order.
    ///
    /// @param launches what to launch
    /// @param stream where
    void launch(List<Launch> launches, long stream) {
        for (int i = 0; i < launches.size(); i++) {
            // A copy, as that of the step's input, and what a library launches have no such trigger.
            boolean afterKernel = i > 0 && launches.get(i - 1).library().isEmpty();
            launch(launches.get(i), stream, programmatic && afterKernel);
        }
    }

    /// Launches one kernel, or one product of a library.
    ///
    /// @param launch what
    /// @param stream where
    /// @param early whether it may start before its predecessor has ended
    void launch(Launch launch, long stream, boolean early) {
        if (launch.library().isPresent()) {
            launchProduct(launch.library().get(), launch.arguments());
            return;
        }
        Blocks blocks = launch.blocks();
        long function = kernels.function(launch.module(), headers, launch.entry(), blocks.sharedBytes());
        try (Arena arena = Arena.ofConfined()) {
            KernelLaunch kernel = new KernelLaunch(
                    function,
                    launch.entry(),
                    blocks.x(),
                    blocks.y(),
                    blocks.z(),
                    blocks.threads(),
                    blocks.sharedBytes(),
                    launch.clusterZ(),
                    early);
            context.binding().launchKernel(kernel, arguments(arena, launch.arguments()), stream);
        }
    }

    private void launchProduct(CudaMatmul library, List<Argument> arguments) {
        libraries
                .computeIfAbsent(library, this::open)
                .launch(
                        address(arguments.get(0)),
                        address(arguments.get(1)),
                        address(arguments.get(2)),
                        number(arguments.get(3)),
                        number(arguments.get(4)),
                        number(arguments.get(5)));
    }

    private long address(Argument argument) {
        return memory.address((Argument.Address) argument);
    }

    private static int number(Argument argument) {
        return ((Argument.Int) argument).value();
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

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(libraries.values());
        all.addAll(workspaces);
        libraries.clear();
        workspaces.clear();
        Closing.all(all);
    }
}
