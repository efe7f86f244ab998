package dev.tenon.backend.cpu.vector.warmup;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs a plan's kernels on memory of its own, in a daemon thread, until the JIT compiler has compiled them.
///
/// It touches neither the KV cache nor activations, scratch or packed rows of the plan, and reads weights
/// only. The plan owns it: [#close] returns when the thread has ended, so it never outlives what it reads.
///
/// Steps have precedence. Up to [#GRACE_NANOS] after its start it leaves the processors to the
/// loading of the model; it pauses during prompts of up to [#SHORT_STEP] tokens, which plain Java
/// computes fast enough; it works a tenth of the time while tokens are decoded, of one sequence or
/// of many, and all of it during longer prompts, which gain more from compiled kernels than they
/// lose.
public final class Warmup implements AutoCloseable {
    /// Tokens of a step during which nothing is done.
    static final int SHORT_STEP = 64;

    /// How long loading and the first step have the processors to themselves.
    static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    /// Work after which a kernel counts as compiled even where it was never seen to be fast.
    static final long BUDGET_NANOS = TimeUnit.SECONDS.toNanos(5);

    /// Work on each kind of linear kernel.
    static final long LINEAR_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final Logger LOG = LoggerFactory.getLogger(Warmup.class);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /// How long it rests after a slice of work while tokens are decoded. With a rest of 3 the first
    /// tokens come later than without any warm-up.
    private static final int REST_PER_WORK = 9;
    private static final int ROUNDS_IN_A_ROW = 3;

    // What the JIT compiler has compiled holds for the whole process.
    private static volatile boolean attentionReady;
    private static volatile boolean elementsReady;
    private static volatile boolean statesReady;

    // Made when there is time for them: the vector forms load the Vector API.
    private final Supplier<List<WarmupTask>> attention;
    private final Supplier<List<WarmupTask>> elements;
    private final Supplier<List<WarmupTask>> states;
    private final boolean ownAttention;
    private final boolean ownElements;
    private final boolean ownStates;
    private final Function<Arena, List<WarmupTask>> kernelTasks;
    private final Thread thread;
    private final long start = System.nanoTime();
    /// Tokens that the running step has of one sequence, at most; 0 when none runs.
    private volatile int stepTokens;
    private volatile boolean stepped;
    private volatile boolean stopped;
    private long sliceStart;

    /// Prepares the tasks; [#start] begins.
    ///
    /// @param attentionMath the arithmetic of attention; nothing is done unless it has two forms
    /// @param elementMath that of activations and norms, likewise
    /// @param stateMath that of ops with a state, likewise; null where no op of the plan uses it
    /// @param layers attention ops of the plan that no other bundle's kernel computes
    /// @param activations whether this backend computes some of the plan's activations and norms itself
    /// @param options types of the cache
    /// @param tasks makes tasks for the linear kernels and other bundles' kernels for attention, with
    ///     memory of an arena that one thread uses; what they read must live until [#close]
    public Warmup(
            AttentionMath attentionMath,
            ElementMath elementMath,
            StateMath stateMath,
            List<CoreOp.Attention> layers,
            boolean activations,
            PlanOptions options,
            Function<Arena, List<WarmupTask>> tasks) {
        ownAttention = !layers.isEmpty();
        ownElements = activations;
        ownStates = stateMath != null;
        attention = () -> attentionMath instanceof WarmAttention forms && !attentionReady
                ? attention(forms, layers, options)
                : List.of();
        elements = () ->
                elementMath instanceof WarmElementMath forms && !elementsReady ? WarmupTask.elements(forms) : List.of();
        states = () -> stateMath instanceof WarmStateMath forms && !statesReady ? WarmupTask.states(forms) : List.of();
        kernelTasks = tasks;
        thread = Thread.ofPlatform().name("tenon-warmup").daemon(true).unstarted(this::work);
        thread.setPriority(Thread.MIN_PRIORITY);
    }

    private static List<WarmupTask> attention(WarmAttention forms, List<CoreOp.Attention> layers, PlanOptions options) {
        return layers.stream()
                .map(op -> new WarmupTask.AttentionShape(
                        op.headCount() / op.headCountKv(),
                        op.keyLength(),
                        AttentionMath.aligned(op.valueLength()),
                        options.keyType() == PlanOptions.KvType.Q8_0,
                        options.valueType() == PlanOptions.KvType.Q8_0))
                .distinct()
                .flatMap(shape -> shape.tasks(forms).stream())
                .toList();
    }

    /// {@return whether attention's vector form is compiled}
    static boolean attentionReady() {
        return attentionReady;
    }

    /// {@return whether the vector form of activations and norms is compiled}
    static boolean elementsReady() {
        return elementsReady;
    }

    /// {@return whether the vector form of ops with a state is compiled}
    static boolean statesReady() {
        return statesReady;
    }

    /// Begins in the background.
    public void start() {
        thread.start();
    }

    /// Notes that a step begins.
    ///
    /// @param input the step, which has a token
    public void stepBegins(StepInput input) {
        stepTokens = longest(input);
    }

    /// {@return the most tokens that a step has of one sequence: 1 where it decodes, whatever the number of
    /// sequences}
    ///
    /// @param input the step
    static int longest(StepInput input) {
        int longest = 0;
        int length = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            length = t > 0 && input.sequence(t) == input.sequence(t - 1) ? length + 1 : 1;
            longest = Math.max(longest, length);
        }
        return longest;
    }

    /// Notes that the step has ended.
    public void stepEnds() {
        stepTokens = 0;
        stepped = true;
    }

    private void work() {
        try (Arena arena = Arena.ofConfined()) {
            sliceStart = System.nanoTime();
            List<WarmupTask> tasks = kernelTasks.apply(arena);
            // The first step needs this code anyway; here it is made while loading goes on.
            for (WarmupTask task : tasks) {
                if (task.generatesCode() && !stepped && !stopped) {
                    task.vector().run();
                }
            }
            if (ownElements && until(elements, "activations and norms")) {
                elementsReady = true;
            }
            if (ownStates && until(states, "ops with a state")) {
                statesReady = true;
            }
            if (ownAttention && until(attention, "attention")) {
                attentionReady = true;
            }
            // Steps compile linear kernels themselves, with all threads: only an idle plan gains from this.
            linears(tasks);
        } catch (RuntimeException | Error e) {
            if (e instanceof TenonException known && known.code().equals(ErrorCode.CLOSED)) {
                LOG.debug("The warm-up ends with its kernels", e);
            } else {
                // Steps would meet the same failure and report it; without this thread they are only slower.
                LOG.warn("The kernels are not warmed up: {}", e.toString(), e);
            }
            elementsReady = true;
            statesReady = true;
            attentionReady = true;
        }
    }

    private void linears(List<WarmupTask> tasks) {
        for (WarmupTask task : tasks) {
            long end = System.nanoTime() + LINEAR_NANOS;
            while (!stepped && mayGoOn() && System.nanoTime() < end) {
                task.vector().run();
            }
        }
    }

    /// Runs tasks until each vector form is no slower than the plain one.
    ///
    /// @return whether it came to an end; false when it was stopped
    private boolean until(Supplier<List<WarmupTask>> made, String what) {
        long worked = 0;
        if (!mayGoOn()) {
            return false;
        }
        List<WarmupTask> tasks = made.get();
        for (WarmupTask task : tasks) {
            int good = 0;
            while (good < ROUNDS_IN_A_ROW && worked < BUDGET_NANOS) {
                if (!mayGoOn()) {
                    return false;
                }
                long begin = System.nanoTime();
                task.vector().run();
                long middle = System.nanoTime();
                task.plain().run();
                long end = System.nanoTime();
                good = middle - begin <= end - middle ? good + 1 : 0;
                worked += end - begin;
            }
        }
        if (LOG.isDebugEnabled() && !tasks.isEmpty()) {
            LOG.debug(
                    "{} warmed up with {} ms of work, {} ms after the plan was made",
                    what,
                    worked / 1_000_000,
                    (System.nanoTime() - start) / 1_000_000);
        }
        return true;
    }

    /// Waits while a step needs the processors.
    ///
    /// @return whether to go on; false when the plan closes
    private boolean mayGoOn() {
        while (!stopped) {
            int tokens = stepTokens;
            boolean loading = !stepped && System.nanoTime() - start < GRACE_NANOS;
            if (tokens > 1 && tokens <= SHORT_STEP || loading && tokens <= SHORT_STEP) {
                LockSupport.parkNanos(this, POLL_NANOS);
                sliceStart = System.nanoTime();
            } else if (tokens == 1 && System.nanoTime() - sliceStart > SLICE_NANOS) {
                LockSupport.parkNanos(this, REST_PER_WORK * (System.nanoTime() - sliceStart));
                sliceStart = System.nanoTime();
            } else {
                return true;
            }
        }
        return false;
    }

    /// Ends the thread and waits for it: a few milliseconds. Calling it twice does nothing.
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
