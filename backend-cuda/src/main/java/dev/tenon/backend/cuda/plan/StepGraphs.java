package dev.tenon.backend.cuda.plan;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The launches of steps, captured as CUDA graphs: one for each shape of step, made when a step
/// first has it. Used in the plan's turn; closed by the plan.
final class StepGraphs implements AutoCloseable {
    private final CudaContext context;
    private final PlannedGraph planned;
    private final Launcher launcher;
    private final long stepAddress;
    private final long pinnedAddress;
    private final LogitsMemory logits;
    private final boolean capture;
    private final Map<Key, Long> graphs = new HashMap<>();
    private final Map<StepShape, List<Launch>> launches = new HashMap<>();

    /// What is captured.
    ///
    /// @param shape the step's sizes
    /// @param sends whether its logits go to the host as its last part
    private record Key(StepShape shape, boolean sends) {}

    /// @param context the device's
    /// @param planned makes launches
    /// @param launcher loads modules and launches
    /// @param stepAddress the step buffer on the device
    /// @param pinnedAddress the step buffer on the host
    /// @param logits where logits go on the host
    /// @param capture whether to capture; else kernels are launched one by one
    StepGraphs(
            CudaContext context,
            PlannedGraph planned,
            Launcher launcher,
            long stepAddress,
            long pinnedAddress,
            LogitsMemory logits,
            boolean capture) {
        this.context = context;
        this.planned = planned;
        this.launcher = launcher;
        this.stepAddress = stepAddress;
        this.pinnedAddress = pinnedAddress;
        this.logits = logits;
        this.capture = capture;
    }

    /// Loads the kernels of shapes, so that the first step of such a shape need not.
    ///
    /// @param shapes the shapes
    void load(List<StepShape> shapes) {
        Map<String, KernelModule> modules = new TreeMap<>();
        for (StepShape shape : shapes) {
            launches(shape).stream()
                    .filter(l -> l.library().isEmpty())
                    .forEach(l -> modules.putIfAbsent(l.module().name(), l.module()));
        }
        launcher.load(List.copyOf(modules.values()));
    }

    /// {@return where logits go on the host}
    LogitsMemory logits() {
        return logits;
    }

    /// {@return the launches of a shape}
    List<Launch> launches(StepShape shape) {
        return launches.computeIfAbsent(shape, planned::launches);
    }

    /// Starts a step. Its input is in the pinned buffer, and is copied first; that of a step whose
    /// tokens the device samples is on the device, see [#copyInput].
    ///
    /// @param shape its shape
    /// @param sends whether its logits go to the host as its last part
    void start(StepShape shape, boolean sends) {
        if (!capture) {
            load(List.of(shape));
            enqueue(shape, sends);
            return;
        }
        Key key = new Key(shape, sends);
        Long graph = graphs.get(key);
        if (graph == null) {
            graph = capture(key);
            graphs.put(key, graph);
        }
        context.binding().launchGraph(graph, context.stream());
    }

    private void enqueue(StepShape shape, boolean sends) {
        if (shape.candidates() == 0) {
            copyInput(planned.limits().layout(shape).bytes());
        }
        launcher.launch(launches(shape), context.stream());
        if (sends) {
            logits.copyWithStep(shape.logitRows());
        }
    }

    /// Starts copying a step's input to the device.
    ///
    /// @param bytes its size
    void copyInput(long bytes) {
        context.binding().copyToDevice(stepAddress, pinnedAddress, bytes, context.stream());
    }

    private long capture(Key key) {
        load(List.of(key.shape));
        launcher.prepare(launches(key.shape));
        return capture(context, () -> enqueue(key.shape, key.sends));
    }

    /// Captures what is enqueued on the context's stream. Everything that it needs has been loaded.
    ///
    /// @param context the device's
    /// @param work enqueues it
    /// @return the graph, ready to be launched; the caller destroys it
    static long capture(CudaContext context, Runnable work) {
        CudaBinding driver = context.binding();
        driver.beginCapture(context.stream());
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            abandonCapture(context, e);
            throw e;
        }
        long graph = driver.endCapture(context.stream());
        try {
            return driver.instantiateGraph(graph);
        } finally {
            driver.destroyGraph(graph);
        }
    }

    /// Ends a capture that failed, because the stream cannot be used again before; what was captured is of no use.
    private static void abandonCapture(CudaContext context, Throwable why) {
        try {
            context.binding().destroyGraph(context.binding().endCapture(context.stream()));
        } catch (BackendException e) {
            why.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        graphs.values().forEach(context.binding()::destroyExecutableGraph);
        graphs.clear();
    }
}
