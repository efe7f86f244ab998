package dev.tenon.backend.cuda.plan;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.device.Weights;
import dev.tenon.api.device.WindowPages;
import dev.tenon.backend.cuda.device.Closing;
import dev.tenon.backend.cuda.device.CudaAllocator;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.device.PinnedMemory;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.run.PlanTurn;
import dev.tenon.kernels.nvidia.run.StepRunner;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A planned graph with its memory on a GPU, all of which the plan owns. Its steps are [CudaSteps].
public final class CudaPlan implements Plan {
    /// Setting: `off` launches kernels one by one instead of capturing them.
    public static final String GRAPHS = "cuda.graphs";
    /// Setting: `off` lets each kernel wait until its predecessor has ended.
    public static final String DEPENDENT_LAUNCH = "cuda.dependent-launch";

    private static final Logger LOG = LoggerFactory.getLogger(CudaPlan.class);

    private final PlanTurn turn = new PlanTurn();
    private final PlanOptions options;
    private final CudaContext context;
    private final Consumer<CudaPlan> onClose;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private CudaAllocator allocator;
    private long freeBefore;
    private CudaProfiler profiler;
    private StepRunner runner;
    private Optional<TokenGenerator> generator = Optional.empty();
    private PlanReport report;

    private CudaPlan(PlanOptions options, CudaContext context, Consumer<CudaPlan> onClose) {
        this.options = options;
        this.onClose = onClose;
        this.context = own(context.withOwnStream());
    }

    /// Allocates a planned graph's memory, loads its kernels and uploads its weights.
    ///
    /// @param planned the graph
    /// @param weights its weights
    /// @param context the device's
    /// @param allocator the device's memory
    /// @param kernels loads kernels
    /// @param traits the device, as the graph was planned for it
    /// @param onClose called when the plan has been closed
    /// @return the plan; if this throws, all memory has been released
    public static CudaPlan create(
            PlannedGraph planned,
            Weights weights,
            CudaContext context,
            CudaAllocator allocator,
            KernelLoader kernels,
            DeviceTraits traits,
            Consumer<CudaPlan> onClose) {
        CudaPlan plan = new CudaPlan(planned.limits().options(), context, onClose);
        try {
            plan.open(planned, weights, allocator, kernels, traits);
            return plan;
        } catch (RuntimeException | Error e) {
            plan.close();
            throw e;
        }
    }

    private void open(
            PlannedGraph planned,
            Weights weights,
            CudaAllocator deviceMemory,
            KernelLoader kernels,
            DeviceTraits traits) {
        context.enter();
        allocator = deviceMemory;
        freeBefore = allocator.freeBytes();
        PlanMemory memory = own(new PlanMemory(planned.buffers(), allocator, context));
        MemorySegment input =
                own(new PinnedMemory(context, planned.step().bytes())).memory();
        MemorySegment pageTables =
                own(new PinnedMemory(context, planned.pages().bytes())).memory().fill((byte) 0);
        boolean early = traits.programmaticLaunch() && on(DEPENDENT_LAUNCH);
        Launcher launcher = own(new Launcher(context, allocator, kernels, memory, planned.headers(), early));
        profiler = own(new CudaProfiler(turn, context, planned, launcher));
        LogitsMemory logits = own(new LogitsMemory(context, planned, memory));
        StepGraphs graphs = own(new StepGraphs(
                context, planned, launcher, memory.address(planned.step()), input.address(), logits, on(GRAPHS)));
        launcher.load(planned.repackModules());
        graphs.load(usualShapes(planned.limits()));
        try (WeightUpload upload = new WeightUpload(context, memory, launcher, allocator, planned)) {
            upload.run(weights);
        }
        CudaSteps steps = new CudaSteps(context, planned, memory, input, pageTables, graphs, profiler);
        runner = new StepRunner(turn, planned, steps);
        if (planned.limits().maxSampledRows() > 0) {
            generator = Optional.of(new CudaGenerator(runner, steps, context));
        }
        report = new PlanReport(
                planned.steps(),
                planned.stepWeightBytes().stream().mapToLong(Long::longValue).sum(),
                new MemoryUse(memory.sizeBytes(), 0, allocator.use().limitBytes()));
    }

    /// Shapes whose kernels are loaded before the first step.
    private List<StepShape> usualShapes(StepLimits limits) {
        List<StepShape> usual = new ArrayList<>(List.of(limits.shape(1, 1, 1)));
        if (options.maxBatchTokens() > 1) {
            usual.add(limits.shape(options.maxBatchTokens(), 1, 1));
        }
        if (limits.maxSampledRows() > 0) {
            usual.add(limits.sampling(1, 1));
        }
        return usual;
    }

    private boolean on(String setting) {
        return !"off".equals(options.settings().get(setting));
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    @Override
    public StepResult run(StepInput input) {
        return runner.run(input);
    }

    @Override
    public boolean takesMasks() {
        return runner.takesMasks();
    }

    @Override
    public Optional<TokenGenerator> generator() {
        return generator;
    }

    @Override
    public Optional<PlanProfiler> profiler() {
        return Optional.of(profiler);
    }

    @Override
    public KvPages kvPages() {
        return runner.pages();
    }

    @Override
    public Optional<WindowPages> windowPages() {
        return runner.windowPages();
    }

    @Override
    public Optional<StateSlots> states() {
        return runner.states();
    }

    @Override
    public PlanReport report() {
        return report;
    }

    /// Releases what the plan owns when nothing runs on its stream any more, all of it even if something
    /// fails.
    @Override
    public void close() {
        turn.close(() -> {
            onClose.accept(this);
            context.enter();
            List<AutoCloseable> all = new ArrayList<>(owned.reversed());
            all.addFirst(context::synchronize);
            Closing.all(all);
            if (LOG.isDebugEnabled() && allocator != null) {
                LOG.debug(
                        "the device had {} bytes free before the plan, {} after it", freeBefore, allocator.freeBytes());
            }
        });
    }
}
