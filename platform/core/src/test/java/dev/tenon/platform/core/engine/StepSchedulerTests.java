package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongBinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Who waits for whom. Waits are an hour or nothing, so that no outcome depends on the machine's speed.
@Timeout(600)
class StepSchedulerTests {
    private static final LongBinaryOperator AN_HOUR = (stepNanos, missing) -> TimeUnit.HOURS.toNanos(1);
    private static final int MAX_SEQUENCES = 8;

    private final RecordingPlan plan = new RecordingPlan();

    private StepScheduler scheduler(LongBinaryOperator longestWait) {
        Placement placement =
                new Placement(new FakeBackend("fake", 1), new FakeBackend("fake", 1).open(null), plan, null, Set.of());
        return new StepScheduler(
                placement,
                () -> {
                    throw new IllegalStateException("nothing is withdrawn here");
                },
                64,
                MAX_SEQUENCES,
                longestWait);
    }

    private static StepItem open(StepScheduler scheduler) {
        StepItem item = new StepItem(new TokenSequence(), 16);
        scheduler.open(item, MAX_SEQUENCES);
        return item;
    }

    private static void steps(StepScheduler scheduler, StepItem item, int count) {
        for (int i = 0; i < count; i++) {
            item.sequence.append(1);
            scheduler.step(item);
        }
    }

    /// What a thread of a session does.
    private static final class Task extends FutureTask<Void> {
        private final Thread thread;

        Task(Runnable work) {
            super(work, null);
            thread = Thread.ofPlatform().daemon(true).start(this);
        }

        /// Returns when the thread waits for something, or has ended.
        void untilItWaits() {
            while (thread.getState() == Thread.State.RUNNABLE || thread.getState() == Thread.State.NEW) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void sessionsThatTookPartInTheLastStepAreWaitedFor() throws Exception {
        StepScheduler scheduler = scheduler(AN_HOUR);
        List<StepItem> items = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            items.add(open(scheduler));
        }
        items.forEach(scheduler::expect);
        List<Task> tasks = new ArrayList<>();
        for (StepItem item : items) {
            tasks.add(new Task(() -> steps(scheduler, item, 20)));
        }
        for (Task task : tasks) {
            task.get();
        }
        assertEquals(Collections.nCopies(20, 4), plan.sequences);
    }

    @Test
    void aSessionThatLeavesIsNotWaitedFor() throws Exception {
        StepScheduler scheduler = scheduler(AN_HOUR);
        StepItem stays = open(scheduler);
        StepItem leaves = open(scheduler);
        scheduler.expect(leaves);
        Task task = new Task(() -> steps(scheduler, stays, 3));
        task.untilItWaits();
        scheduler.leave(leaves);
        task.get();
        assertEquals(List.of(1, 1, 1), plan.sequences);
    }

    @Test
    void aSessionThatIsClosedIsNotWaitedFor() throws Exception {
        StepScheduler scheduler = scheduler(AN_HOUR);
        StepItem stays = open(scheduler);
        StepItem closes = open(scheduler);
        steps(scheduler, closes, 1);
        Task task = new Task(() -> steps(scheduler, stays, 2));
        task.untilItWaits();
        assertTrue(plan.sequences.size() == 1, "the session that took part in the last step is waited for");
        scheduler.close(closes);
        scheduler.expect(closes);
        task.get();
        assertEquals(List.of(1, 1, 1), plan.sequences);
    }

    @Test
    void whoeverDoesNotComeInTimeIsWaitedForOnlyOnce() {
        AtomicInteger waits = new AtomicInteger();
        StepScheduler scheduler = scheduler((stepNanos, missing) -> {
            waits.incrementAndGet();
            return 0;
        });
        StepItem quick = open(scheduler);
        StepItem slow = open(scheduler);
        scheduler.expect(slow);
        steps(scheduler, quick, 5);
        assertEquals(1, waits.get());
        assertEquals(List.of(1, 1, 1, 1, 1), plan.sequences);
        scheduler.leave(quick);
        steps(scheduler, slow, 1);
        assertEquals(1, waits.get());
        steps(scheduler, quick, 2);
        assertEquals(2, waits.get());
    }

    @Test
    void whoeverIsLateAgainAndAgainIsWaitedForEverMoreSeldom() {
        AtomicInteger waits = new AtomicInteger();
        StepScheduler scheduler = scheduler((stepNanos, missing) -> {
            assertEquals(1, missing);
            waits.incrementAndGet();
            return 0;
        });
        StepItem quick = open(scheduler);
        StepItem slow = open(scheduler);
        List<Integer> heard = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            steps(scheduler, slow, 1);
            scheduler.leave(quick);
            int before = waits.get();
            steps(scheduler, quick, 1);
            heard.add(waits.get() - before);
            scheduler.leave(quick);
        }
        assertEquals(List.of(1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1), heard);
    }

    @Test
    void whoComesInTimeIsNoLongerOneWhoIsLate() {
        AtomicInteger waits = new AtomicInteger();
        StepScheduler scheduler = scheduler((stepNanos, missing) -> {
            waits.incrementAndGet();
            return 0;
        });
        StepItem quick = open(scheduler);
        StepItem other = open(scheduler);
        for (int i = 0; i < 4; i++) {
            steps(scheduler, other, 2);
            steps(scheduler, quick, 1);
            assertEquals(i + 1, waits.get());
            scheduler.leave(quick);
        }
    }

    @Test
    void aSequenceCanBeShortenedWhileALeaderWaits() throws Exception {
        StepScheduler scheduler = scheduler(AN_HOUR);
        StepItem leads = open(scheduler);
        StepItem late = open(scheduler);
        steps(scheduler, late, 2);
        Task task = new Task(() -> steps(scheduler, leads, 1));
        task.untilItWaits();
        scheduler.truncate(late, 1);
        assertEquals(1, late.sequence.length());
        assertEquals(2, plan.sequences.size());
        steps(scheduler, late, 1);
        task.get();
        assertEquals(List.of(1, 1, 2), plan.sequences);
    }

    @Test
    void closingTheModelEndsAWaitingLeader() {
        StepScheduler scheduler = scheduler(AN_HOUR);
        StepItem leads = open(scheduler);
        scheduler.expect(open(scheduler));
        Task task = new Task(() -> steps(scheduler, leads, 1));
        task.untilItWaits();
        scheduler.close();
        ExecutionException e = assertThrows(ExecutionException.class, task::get);
        assertEquals(ErrorCode.CLOSED, ((TenonException) e.getCause()).code());
        assertEquals(List.of(), plan.sequences);
    }

    @Test
    void aFailedStepReachesAllAndNobodyIsWaitedForBehindIt() throws Exception {
        StepScheduler scheduler = scheduler(AN_HOUR);
        StepItem one = open(scheduler);
        StepItem other = open(scheduler);
        plan.failing = true;
        scheduler.expect(one);
        scheduler.expect(other);
        Task task = new Task(() -> steps(scheduler, one, 1));
        assertThrows(IllegalStateException.class, () -> steps(scheduler, other, 1));
        assertThrows(ExecutionException.class, task::get);
        plan.failing = false;
        scheduler.step(one);
        assertEquals(List.of(1), plan.sequences);
    }

    /// With waits of an hour, a wake-up that gets lost anywhere is a test that does not end.
    @Test
    void noWakeUpIsLostWhenSessionsComeAndGoAndChange() throws Exception {
        StepScheduler scheduler = scheduler(AN_HOUR);
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < MAX_SEQUENCES; i++) {
            Random random = new Random(i);
            tasks.add(new Task(() -> {
                StepItem item = open(scheduler);
                for (int call = 0; call < 200; call++) {
                    scheduler.expect(item);
                    steps(scheduler, item, random.nextInt(5));
                    if (random.nextInt(4) == 0) {
                        scheduler.truncate(item, random.nextInt(item.sequence.length() + 1));
                    }
                    scheduler.leave(item);
                    if (random.nextInt(16) == 0) {
                        scheduler.close(item);
                        item = open(scheduler);
                    }
                }
                scheduler.close(item);
            }));
        }
        for (Task task : tasks) {
            task.get();
        }
        assertEquals(0, plan.overlaps.get());
    }

    /// Notes how many sequences each step has.
    private static final class RecordingPlan implements Plan {
        final List<Integer> sequences = Collections.synchronizedList(new ArrayList<>());
        final AtomicInteger overlaps = new AtomicInteger();
        volatile boolean failing;
        private final AtomicInteger inside = new AtomicInteger();

        @Override
        public StepResult run(StepInput input) {
            if (failing) {
                throw new IllegalStateException("made by the test");
            }
            if (inside.getAndIncrement() != 0) {
                overlaps.incrementAndGet();
            }
            sequences.add(input.sequenceCount());
            inside.decrementAndGet();
            return new StepResult() {
                @Override
                public int rows() {
                    return 0;
                }

                @Override
                public void logits(int row, float[] target) {
                    throw new IllegalStateException("nobody asked for logits");
                }
            };
        }

        @Override
        public KvPages kvPages() {
            return new KvPages() {
                @Override
                public int tokensPerPage() {
                    return 1000;
                }

                @Override
                public int pageCount() {
                    return MAX_SEQUENCES;
                }

                @Override
                public long pageBytes() {
                    return 1;
                }

                @Override
                public void copy(int from, int to) {
                    throw new IllegalStateException("pages are not shared here");
                }
            };
        }

        @Override
        public PlanReport report() {
            return new PlanReport(List.of(), 0, new MemoryUse(0, 0, 0));
        }

        @Override
        public void close() {}
    }
}
