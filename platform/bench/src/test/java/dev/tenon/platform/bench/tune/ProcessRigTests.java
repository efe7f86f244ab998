package dev.tenon.platform.bench.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Knob;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.Interval;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Candidates that hang, crash or fail in processes of their own.
class ProcessRigTests {
    private static final ProcessRig.Limits LIMITS = new ProcessRig.Limits(
            TimeUnit.MINUTES.toNanos(2), TimeUnit.SECONDS.toNanos(2), TimeUnit.SECONDS.toNanos(2));

    private final List<ProcessBuilder> started = new ArrayList<>();
    private ProcessRig rig = rig();

    private ProcessRig rig(String... arguments) {
        return new ProcessRig(() -> program(arguments), 2, LIMITS);
    }

    private synchronized ProcessBuilder program(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                StandInWorker.class.getName()));
        command.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        started.add(builder);
        return builder;
    }

    @AfterEach
    void end() {
        rig.close();
    }

    private static Candidate candidate(String name, String value) {
        return new Candidate(Map.of(name, value));
    }

    @Test
    void oneProcessMeasuresWhatIsSound() throws CandidateFailure {
        rig.open(candidate("step", "80"));
        assertEquals(0, rig.difference());
        assertEquals(Math.log(100.0 / 80), rig.quad().gain(Workload.Times::token), 1e-12);
        rig.open(candidate("step", "120"));
        assertEquals(Math.log(100.0 / 120), rig.quad().gain(Workload.Times::prompt), 1e-12);
        assertEquals(1, started.size());
        rig.reopen(candidate("step", "90"), false);
        assertEquals(1, started.size());
        rig.reopen(candidate("step", "90"), true);
        rig.quad();
        assertEquals(2, started.size());
    }

    @Test
    void whatHangsIsKilledAndTheNextOneIsMeasured() throws CandidateFailure {
        rig.open(candidate("step", "80")); // now it is known how long loading takes
        for (String at : List.of("quad", "difference")) {
            rig.open(candidate(at, "hang"));
            String how = assertThrows(CandidateFailure.class, () -> {
                        rig.difference();
                        rig.quad();
                    })
                    .getMessage();
            assertTrue(how.startsWith("hung: no answer within 2 s"), how);
        }
        rig.open(candidate("step", "80"));
        rig.quad();
        assertEquals(3, started.size());
    }

    @Test
    void whatCrashesOrFailsIsTold() throws CandidateFailure {
        String how = assertThrows(CandidateFailure.class, () -> rig.open(candidate("load", "crash")))
                .getMessage();
        assertEquals("crashed: its process ended with status 7", how);
        how = assertThrows(CandidateFailure.class, () -> rig.open(candidate("load", "refuse")))
                .getMessage();
        assertEquals("failed: no memory for it", how);
        rig.open(candidate("quad", "crash"));
        assertEquals(
                "crashed: its process ended with status 7",
                assertThrows(CandidateFailure.class, rig::quad).getMessage());
    }

    @Test
    void withoutSoundDefaultsThereIsNothingToTune() {
        rig.close();
        rig = rig("no such backend");
        TenonException e = assertThrows(TenonException.class, () -> rig.open(candidate("step", "80")));
        assertTrue(e.getMessage().contains("no such backend"), e.getMessage());
    }

    @Test
    void kernelsAreCompiledBySeveralProcessesAndFaultyOnesPassedOver() {
        rig.prepare(List.of(
                candidate("step", "1"),
                candidate("load", "crash"),
                candidate("load", "refuse"),
                candidate("step", "2")));
        assertTrue(started.size() >= 2, started.size() + " processes");
        started.clear();
        rig.prepare(List.of());
        assertTrue(started.isEmpty());
    }

    @Test
    void toldToStopItEndsAtOnce() throws Exception {
        rig.open(candidate("quad", "hang"));
        CountDownLatch asked = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread measuring = Thread.ofPlatform().start(() -> {
            asked.countDown();
            try {
                rig.quad();
            } catch (CandidateFailure | Interrupted e) {
                thrown.set(e);
            }
        });
        asked.await();
        rig.stop();
        measuring.join();
        assertEquals(Interrupted.class, thrown.get().getClass());
        assertThrows(Interrupted.class, () -> rig.open(candidate("step", "80")));
    }

    @Test
    void aSearchOverProcessesEndsWithTheFastestSoundCandidate() {
        List<String> log = new ArrayList<>();
        Tuner.Result result = new Tuner(
                        rig,
                        List.of(
                                Knob.exact("step", List.of("120", "80")),
                                Knob.exact("quad", List.of("hang", "crash")),
                                Knob.exact("difference", List.of("refuse"))),
                        new Workload(10, 10),
                        1,
                        TimeUnit.MINUTES.toNanos(5),
                        System::nanoTime,
                        Map.of(),
                        (Candidate candidate, String verdict, Interval gain, int quads) ->
                                log.add(candidate.text() + " " + verdict))
                .run();
        assertEquals(Map.of("step", "80"), result.best().settings(), log.toString());
        assertTrue(result.failed().keySet().containsAll(List.of("quad=hang", "quad=crash", "difference=refuse")));
        assertFalse(result.failed().containsKey("step=120"));
        assertEquals("complete", result.end());
    }
}
