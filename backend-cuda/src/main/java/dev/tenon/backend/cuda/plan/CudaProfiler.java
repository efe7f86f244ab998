package dev.tenon.backend.cuda.plan;

import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.PlanTurn;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Times the kernels of a plan's steps with an event before and after each, all of them captured as
/// a graph. A timed kernel starts when the event before it has been noted, not before, so that
/// the sum is more than a step takes without profiler.
///
/// Used in the plan's turn, for which it waits itself where it is called from outside; closed by the plan.
final class CudaProfiler implements PlanProfiler, AutoCloseable {
    private final PlanTurn turn;
    private final CudaContext context;
    private final PlannedGraph planned;
    private final Launcher launcher;
    private final List<Long> events = new ArrayList<>();
    private final Map<StepShape, Long> graphs = new HashMap<>();
    private final List<PlanReport.Kernel> steps;
    private final List<Long> weightBytes;
    private final long[] count;
    private final long[] nanos;
    private final long[] bytes;
    private boolean on;
    private long runs;
    private long tokens;
    private long runNanos;

    /// @param turn the plan's
    /// @param context the device's
    /// @param planned the plan's graph
    /// @param launcher launches its kernels
    CudaProfiler(PlanTurn turn, CudaContext context, PlannedGraph planned, Launcher launcher) {
        this.turn = turn;
        this.context = context;
        this.planned = planned;
        this.launcher = launcher;
        this.steps = planned.steps();
        this.weightBytes = planned.stepWeightBytes();
        this.count = new long[steps.size()];
        this.nanos = new long[steps.size()];
        this.bytes = new long[steps.size()];
    }

    @Override
    public void start() {
        turn.await();
        try {
            stop();
            on = true;
        } finally {
            turn.end();
        }
    }

    @Override
    public PlanProfile stop() {
        turn.await();
        try {
            List<PlanProfile.Entry> entries = new ArrayList<>();
            for (int i = 0; i < count.length; i++) {
                entries.add(new PlanProfile.Entry(steps.get(i), count[i], nanos[i], bytes[i]));
                count[i] = 0;
                nanos[i] = 0;
                bytes[i] = 0;
            }
            PlanProfile profile = new PlanProfile(runs, tokens, runNanos, entries);
            runs = 0;
            tokens = 0;
            runNanos = 0;
            on = false;
            return profile;
        } finally {
            turn.end();
        }
    }

    boolean on() {
        return on;
    }

    /// Counts a run.
    ///
    /// @param input its tokens
    /// @param begin when it began, as [System#nanoTime]
    void ran(StepInput input, long begin) {
        runs++;
        tokens += input.tokenCount();
        runNanos += System.nanoTime() - begin;
    }

    /// Launches kernels and waits for them. Their modules are loaded, their input is on the device.
    ///
    /// @param shape the step's sizes
    /// @param launches the kernels
    /// @param input the step
    /// @param further how many positions after those of the input its tokens are
    void run(StepShape shape, List<Launch> launches, StepInput input, int further) {
        CudaBinding driver = context.binding();
        while (events.size() <= launches.size()) {
            events.add(driver.createEvent(true));
        }
        Long graph = graphs.get(shape);
        if (graph == null) {
            launcher.prepare(launches);
            graph = StepGraphs.capture(context, () -> enqueue(launches));
            graphs.put(shape, graph);
        }
        driver.launchGraph(graph, context.stream());
        context.synchronize();
        long[] cacheBytes = cacheBytes(input, further);
        int last = -1;
        int attention = 0;
        for (int i = 0; i < launches.size(); i++) {
            int step = launches.get(i).step();
            nanos[step] += (long) (1e6 * driver.elapsedMillis(events.get(i), events.get(i + 1)));
            if (step != last) {
                last = step;
                count[step]++;
                boolean rowsOnly = steps.get(step).op().equals("embedding");
                bytes[step] += weightBytes.get(step) * (rowsOnly ? input.tokenCount() : 1);
                if (steps.get(step).op().equals("attention")) {
                    bytes[step] += cacheBytes[attention++];
                }
            }
        }
    }

    private void enqueue(List<Launch> launches) {
        note(0);
        for (int i = 0; i < launches.size(); i++) {
            launcher.launch(launches.get(i), context.stream(), false);
            note(i + 1);
        }
    }

    private void note(int event) {
        context.binding().recordEvent(events.get(event), context.stream(), true);
    }

    /// Bytes of the cache that each attention op has to read at least, in their order.
    private long[] cacheBytes(StepInput input, int further) {
        long positions = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            if (t + 1 == input.tokenCount() || input.sequence(t + 1) != input.sequence(t)) {
                positions += input.position(t) + further + 1;
            }
        }
        List<KvBuffer> cache = planned.cache();
        long[] all = new long[cache.size() / 2];
        for (int i = 0; i < all.length; i++) {
            long page = cache.get(2 * i).pageBytes() + cache.get(2 * i + 1).pageBytes();
            all[i] = positions * page / KvBuffer.TOKENS;
        }
        return all;
    }

    @Override
    public void close() {
        graphs.values().forEach(context.binding()::destroyExecutableGraph);
        graphs.clear();
        events.forEach(context.binding()::destroyEvent);
        events.clear();
    }
}
