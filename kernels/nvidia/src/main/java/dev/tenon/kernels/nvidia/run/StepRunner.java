package dev.tenon.kernels.nvidia.run;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.WindowPages;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.step.PageTables;
import dev.tenon.kernels.nvidia.step.StepLimits;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/// Runs the steps of a planned graph on a device: checks a step, finds its shape, writes its page tables
/// and input, hands it to the device, and reads what it gave. A step that wants more rows of logits than
/// the device has memory for is several runs.
public final class StepRunner {
    private static final StepInput NOTHING = new StepInput();
    private static final BitSet UNMASKED = new BitSet();

    private final PlanTurn turn;
    private final StepLimits limits;
    private final StepCheck check;
    private final StepDevice device;
    private final StepLogits logits;
    private final PageTables tables;
    private final StepSampling sampling;
    private final Rows result;
    private final KvPages pages;
    private final Optional<WindowPages> windowPages;
    private final Optional<SequenceSlots> states;

    /// Makes a runner.
    ///
    /// @param turn the plan's
    /// @param planned the graph
    /// @param device runs its launches; lives as long as the plan
    public StepRunner(PlanTurn turn, PlannedGraph planned, StepDevice device) {
        this.turn = turn;
        this.limits = planned.limits();
        this.check = limits.check();
        this.device = device;
        this.logits = device.logits();
        this.tables = new PageTables(
                limits.pageCount(), limits.windowPages() > 0 ? limits.options().maxSequences() : 0);
        this.sampling = new StepSampling(
                device.sampled().isPresent() ? limits.maxSampledRows() : 0, planned.logitsWidth(), device.masks());
        this.result = new Rows(
                turn,
                logits,
                sampling,
                new NamedRows(turn, device, planned.outputs()),
                planned.logitsWidth(),
                limits.logitsSelected());
        this.pages = new CachePages(turn, device, planned.cache(), limits.pageCount());
        this.windowPages = limits.windowPages() == 0
                ? Optional.empty()
                : Optional.of(new WindowPages(
                        new CachePages(turn, device, planned.windowCache(), limits.windowPages()),
                        planned.windows()::firstSeen));
        this.states = limits.stateSlots() == 0
                ? Optional.empty()
                : Optional.of(new SequenceSlots(turn, device, planned.states(), limits.stateSlots()));
    }

    /// {@return the plan's turn}
    public PlanTurn turn() {
        return turn;
    }

    /// {@return what the plan's steps have in common}
    public StepLimits limits() {
        return limits;
    }

    /// {@return the pages of the plan's cache}
    public KvPages pages() {
        return pages;
    }

    /// {@return the pages of layers with a window: [dev.tenon.api.device.Plan#windowPages]}
    public Optional<WindowPages> windowPages() {
        return windowPages;
    }

    /// {@return whether steps keep to masks: [dev.tenon.api.device.Plan#takesMasks]}
    public boolean takesMasks() {
        return sampling.possible();
    }

    /// {@return the states of sequences; empty for a graph without states}
    public Optional<StateSlots> states() {
        return states.map(slots -> slots);
    }

    /// Runs a step: [dev.tenon.api.device.Plan#run].
    ///
    /// @param input the batch
    /// @return what it gave; the same object for each step
    public StepResult run(StepInput input) {
        turn.begin("run");
        try {
            check.check(input);
            limits.checkPositions(input, 1);
            states.ifPresent(slots -> slots.begin(input));
            result.begin(input);
            if (input.tokenCount() > 0) {
                device.begin();
                runAll(input);
                device.end(input);
            }
            states.ifPresent(slots -> slots.end(input, 1));
            return result;
        } finally {
            turn.end();
        }
    }

    private void runAll(StepInput input) {
        sendPageTables(input, 1);
        int wanted = limits.logitsSelected() ? input.logitRows() : 0;
        int first = Math.min(wanted, limits.maxLogitRows());
        StepShape shape = sampling.begin(limits.shape(input, first), input);
        logits.begin();
        boolean sends =
                shape.candidates() == 0 && first > 0 && result.likelyAsked() && logits.arrivesWith(shape.logitRows());
        run(shape, input, 0, first, sends);
        if (sends) {
            result.arrived(first);
        }
        if (wanted > first) {
            result.keep(0, first);
            for (int done = first; done < wanted; ) {
                int count = Math.min(wanted - done, limits.maxLogitRows());
                run(new StepShape(0, limits.bucket(count), false), input, done, count, false);
                result.keep(done, count);
                done += count;
            }
        }
    }

    private void run(StepShape shape, StepInput input, int firstLogit, int logitRows, boolean sends) {
        Step step = new Step(shape, limits.layout(shape), input, sends);
        step.layout().write(input, firstLogit, logitRows, device.input());
        if (step.samples()) {
            step.layout().writeChoices(sampling.rows(), sampling.masked(), device.input());
        }
        device.run(step);
        if (step.samples()) {
            sampling.read(device.sampled().orElseThrow(), shape);
        }
    }

    private void sendPageTables(StepInput input, int steps) {
        tables.write(input, steps, device.pageTables());
        if (tables.bytes() > 0) {
            device.sendPageTables(tables.from(), tables.bytes());
        }
    }

    /// Writes the input of the first of several steps, each of which gives its tokens to the next one on the
    /// device. In the plan's turn; what the last step gave is gone, and the caller runs the steps.
    ///
    /// @param input one token for each sequence, all of them wanting logits
    /// @param choices how to sample, one for each sequence
    /// @param steps how many steps, at least 1
    /// @return the first step
    /// @throws IllegalArgumentException if the input is anything else
    public Step first(StepInput input, List<TokenSampling> choices, int steps) {
        check.check(input, steps);
        limits.checkPositions(input, steps);
        StepShape shape = limits.sampling(input, choices, steps);
        states.ifPresent(slots -> slots.begin(input));
        result.begin(NOTHING);
        device.begin();
        sendPageTables(input, steps);
        Step step = new Step(shape, limits.layout(shape), input, false);
        step.layout().write(input, 0, input.logitRows(), device.input());
        step.layout().writeChoices(choices, UNMASKED, device.input());
        return step;
    }

    /// Notes that all steps have run after [#first], and none more. In the plan's turn.
    ///
    /// @param input the first one's
    /// @param steps how many
    public void allRan(StepInput input, int steps) {
        states.ifPresent(slots -> slots.end(input, steps));
    }
}
