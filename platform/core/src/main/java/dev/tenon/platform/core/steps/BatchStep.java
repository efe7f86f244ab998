package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.placement.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// The step that a [StepLoop] runs: the tasks that take part, their tokens, and how it is run: as
/// one step of the plan, or as several in which the device samples ([DeviceRun]). Used by the
/// thread that drives; [#run] without the loop's lock, the rest with it.
final class BatchStep {
    private final BatchComposer composer;
    private final List<SequenceTask> tasks = new ArrayList<>();
    private final StepInput input = new StepInput();
    private final DeviceRun deviceRun = new DeviceRun();
    private Placement placement;
    private Head head;
    /// Steps that the device samples in; 0 for one step of the plan.
    private int deviceSteps;
    /// Whether a step failed after it began.
    private boolean broken;
    /// What composing took, copies of states above all.
    private long composing;

    BatchStep(BatchComposer composer) {
        this.composer = composer;
    }

    /// {@return the tasks that take part}
    List<SequenceTask> tasks() {
        return tasks;
    }

    /// Takes tasks, and pages for their tokens.
    ///
    /// @param queued what waits, in the order of arrival
    /// @param placed where it runs
    /// @param changesWait whether a change waits for the end of the step
    /// @return whether anything waits for the end of the step
    boolean compose(List<SequenceTask> queued, PlacedSequences placed, boolean changesWait) {
        long begin = System.nanoTime();
        placement = placed.placement();
        head = placed.head();
        int waiting = composer.compose(queued, tasks, input, placed);
        // Those that wait for pages get none before a task has ended, which ends a run of several steps; what others
        // are late for ends it when it comes.
        boolean othersWait = changesWait || queued.size() > tasks.size() + waiting;
        deviceSteps = othersWait ? 0 : deviceRun.prepare(placement.plan(), placed, tasks, input);
        composing = System.nanoTime() - begin;
        return othersWait;
    }

    /// Makes it a step of all tasks that wait, which fails.
    void fail(List<SequenceTask> queued, Throwable why) {
        deviceRun.end();
        clear();
        tasks.addAll(queued);
        tasks.forEach(task -> task.fail(why));
    }

    /// Runs the step and has the tasks take what it gives. What goes wrong fails the tasks.
    ///
    /// @param othersWait whether anything waits for the end of the step
    void run(BooleanSupplier othersWait) {
        try {
            if (deviceSteps > 0) {
                deviceRun.generate(deviceSteps, placement.check(), othersWait);
            } else if (input.tokenCount() > 0) {
                StepResult result = placement.plan().run(input);
                placement.check().run();
                take(result);
            }
        } catch (RuntimeException | Error e) {
            broken = true;
            Throwable why = explained(e);
            tasks.forEach(task -> task.fail(why));
        }
    }

    /// {@return what made the step fail: that the model changed, if it did, whatever came of it}
    private Throwable explained(Throwable failure) {
        try {
            placement.check().run();
            return failure;
        } catch (TenonException changed) {
            return changed;
        }
    }

    private void take(StepResult result) {
        int row = 0;
        int token = 0;
        for (SequenceTask task : tasks) {
            if (head != null && !task.failed()) {
                head.ran(task, result, token);
            }
            task.take(result, row, token);
            row += task.rows();
            token += task.tokens();
        }
    }

    /// Releases the pages that a device run has not used, returns to states from before a step that failed or whose
    /// proposals were wrong, shares pages that are full, and removes tokens that leave. Before any task ends: its
    /// session may then append to the sequence.
    ///
    /// @param placed where it ran
    /// @param nanos how long it ran
    void settle(PlacedSequences placed, long nanos) {
        int steps = deviceRun.end();
        long begin = System.nanoTime();
        tasks.forEach(task -> placed.states().settle(task.sequence()));
        long all = composing + nanos + System.nanoTime() - begin;
        tasks.forEach(placed.supply()::share);
        if (!broken && input.tokenCount() > 0) {
            composer.ran(all / steps, deviceSteps > 0);
        }
        broken = false;
        tasks.forEach(placed::settle);
    }

    /// Makes it an empty step.
    void clear() {
        deviceSteps = 0;
        placement = null;
        head = null;
        input.clear();
        tasks.clear();
    }
}
