package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Chunk;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import org.junit.jupiter.api.Test;

/// The part of [BackendContract] that is about opening, closing and threads: nothing is left behind, and
/// nobody disturbs anybody.
public abstract class BackendLifeContract extends BackendGivenContract {
    /// Rounds before what the process holds is counted: the first ones load classes and fill pools.
    private static final int FIRST_ROUNDS = 20;
    /// From so many rounds on, a mapping lost in each stands out from what the JVM and the C library map
    /// meanwhile.
    private static final int ROUNDS_FOR_MAPS = 200;

    /// For subclasses.
    protected BackendLifeContract() {}

    /// {@return how often devices and plans are opened and closed to find leaks; lost mappings are looked
    ///     for from 200 on}
    protected int openCloseRounds() {
        return 200;
    }

    @Test
    void aClosedPlanRefusesSteps() {
        try (Model model = llama()) {
            Plan plan = device().compiler().compile(Settings.of(4, 1, 8).request(model, 8));
            plan.close();
            plan.close();
            StepInput input = new StepInput();
            input.addSequence(new int[] {0});
            input.addToken(1, 0, true);
            try {
                plan.run(input);
                fail("a closed plan ran a step");
            } catch (TenonException e) {
                assertEquals(ErrorCode.CLOSED, e.code(), e.getMessage());
            } catch (IllegalStateException e) {
                assertFalse(String.valueOf(e.getMessage()).isBlank(), "no message");
            }
        }
    }

    @Test
    void openingAndClosingPlansGivesAllMemoryBack() {
        MemoryUse before = device().allocator().use();
        try (Model model = llama()) {
            for (int i = 0; i < openCloseRounds(); i++) {
                try (Plan plan =
                        device().compiler().compile(Settings.of(4, 1, 8).request(model, 8))) {
                    runOneToken(plan);
                }
            }
        }
        assertEquals(before, device().allocator().use());
    }

    /// What the process held before and after all rounds; found by the first test that asks.
    private record Rounds(int threadsAtFirst, ProcessUse before, ProcessUse after) {}

    private Rounds rounds;

    private synchronized Rounds rounds() throws Exception {
        if (rounds == null) {
            try (Model model = llama()) {
                int threads = ProcessUse.now().threads();
                openAndClose(model, Math.min(openCloseRounds(), FIRST_ROUNDS));
                ProcessUse before = ProcessUse.now();
                openAndClose(model, openCloseRounds());
                // A thread that was told to end may need a moment to do so.
                ProcessUse after = ProcessUse.now();
                for (int wait = 0; wait < 50 && after.threads() > threads; wait++) {
                    Thread.sleep(100);
                    after = ProcessUse.now();
                }
                rounds = new Rounds(threads, before, after);
            }
        }
        return rounds;
    }

    @Test
    void openingAndClosingDevicesLeavesNoThreadsBehind() throws Exception {
        assertTrue(
                rounds().after().threads() <= rounds().threadsAtFirst(),
                rounds().threadsAtFirst() + " threads before, "
                        + rounds().after().threads() + " after: "
                        + Thread.getAllStackTraces().keySet());
    }

    @Test
    void openingAndClosingDevicesLeavesNoFileOpen() throws Exception {
        assumeTrue(rounds().before().files() >= 0, "this system does not list a process's file descriptors");
        assertGrowth(
                "open file descriptors",
                rounds().before().files(),
                rounds().after().files());
    }

    @Test
    void openingAndClosingDevicesLeavesNothingMapped() throws Exception {
        assumeTrue(
                openCloseRounds() >= ROUNDS_FOR_MAPS,
                openCloseRounds() + " rounds; mappings are looked for from " + ROUNDS_FOR_MAPS + " on");
        assumeTrue(rounds().before().maps() >= 0, "this system does not list a process's mappings");
        assertGrowth("mappings", rounds().before().maps(), rounds().after().maps());
    }

    /// The JVM opens and maps things of its own: what counts is whether about every second round loses one.
    private void assertGrowth(String what, int before, int after) {
        int rounds = openCloseRounds();
        assertTrue(
                after - before < Math.max(2, rounds / 2),
                before + " " + what + " before " + rounds + " rounds, " + after + " after");
    }

    private void openAndClose(Model model, int rounds) {
        for (int i = 0; i < rounds; i++) {
            Device opened = backend().open(deviceOptions());
            try (Plan plan = opened.compiler().compile(Settings.of(4, 1, 8).request(model, 8))) {
                runOneToken(plan);
            }
            opened.close();
            opened.close();
        }
    }

    /// Runs the first token of a sequence.
    static void runOneToken(Plan plan) {
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(1, 0, true);
        assertEquals(1, plan.run(input).rows());
    }

    // --- threads

    @Test
    void stepsMayComeFromDifferentThreads() throws Exception {
        try (Model model = llama();
                PlanDriver driver = new PlanDriver(device(), model, Settings.of(4, 1, 16))) {
            int[] tokens = tokens(41, 12, model.vocabularySize());
            double[][] expected =
                    new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
            float[][] got = new float[tokens.length][];
            PlanDriver.Sequence s = driver.open();
            for (int i = 0; i < tokens.length; i++) {
                Chunk chunk = new Chunk(s, new int[] {tokens[i]}, true);
                FutureTask<float[]> step = new FutureTask<>(() -> driver.step(chunk)[0]);
                Thread.ofPlatform().start(step);
                got[i] = step.get();
            }
            assertClose(model.name(), expected, got, tolerance("model", 256));
        }
    }

    @Test
    void plansOfOneDeviceRunAtTheSameTime() throws Exception {
        MemoryUse before = device().allocator().use();
        try (Model a = llama();
                Model b = qwen3()) {
            Phaser together = new Phaser(3);
            atOnce(
                    together,
                    List.of(
                            () -> feeds(a, 51, together, device()),
                            () -> feeds(b, 52, together, device()),
                            () -> feeds(a, 53, together, device())));
        }
        assertEquals(before, device().allocator().use(), "memory in use after the plans are closed");
    }

    @Test
    void severalDevicesMayBeOpenAtOnce() throws Exception {
        try (Model model = llama()) {
            Phaser together = new Phaser(2);
            Callable<Void> task = () -> {
                try (Device own = backend().open(deviceOptions())) {
                    return feeds(model, 54, together, own);
                }
            };
            atOnce(together, List.of(task, task));
        }
    }

    /// Compiles a plan, waits until all have, and runs a sequence token by token, twice.
    private Void feeds(Model model, long seed, Phaser together, Device on) {
        int[] tokens = tokens(seed, 24, model.vocabularySize());
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        try (PlanDriver driver = new PlanDriver(on, model, Settings.of(8, 1, 24))) {
            together.arriveAndAwaitAdvance();
            for (int chunk : new int[] {1, 7}) {
                PlanDriver.Sequence s = driver.open();
                float[][] got = driver.feed(s, tokens, chunk);
                driver.release(s);
                assertClose(model.name() + " beside others, chunk=" + chunk, expected, got, tolerance("model", 256));
            }
        }
        return null;
    }

    /// @param together what the tasks meet at; nobody waits there for one that has failed
    private static void atOnce(Phaser together, List<Callable<Void>> tasks) throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(tasks.size())) {
            List<Future<Void>> running = new ArrayList<>();
            for (Callable<Void> task : tasks) {
                running.add(pool.submit(() -> {
                    try {
                        return task.call();
                    } finally {
                        together.arriveAndDeregister();
                    }
                }));
            }
            for (Future<Void> each : running) {
                each.get();
            }
        }
    }
}
