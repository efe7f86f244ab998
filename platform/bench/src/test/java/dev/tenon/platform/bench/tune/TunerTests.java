package dev.tenon.platform.bench.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.config.Knob;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The search on models of time: it finds what is there, and never ends slower than the defaults.
class TunerTests {
    private static final int RUNS = 20;
    private static final long BUDGET = 300_000_000_000L;
    private static final List<Knob> KNOBS = List.of(
            Knob.rounding("rows", List.of("1", "2", "4")).compiled(),
            Knob.rounding("block", List.of("64", "128", "256")).compiled(),
            Knob.exact("claims", List.of("16", "32")),
            Knob.exact("pin", List.of("on")));

    /// How a machine disturbs measurements.
    enum Machine {
        QUIET((random, seconds) -> 1 + 0.003 * random.nextGaussian()),
        USUAL((random, seconds) -> 1 + 0.02 * random.nextGaussian()),
        DRIFTING((random, seconds) -> (1 + 0.002 * seconds) * (1 + 0.01 * random.nextGaussian())),
        SWINGING((random, seconds) -> (1 + 0.2 * Math.sin(seconds / 7)) * (1 + 0.01 * random.nextGaussian())),
        HEAVY_TAILS(
                (random, seconds) -> 1 + 0.01 * Math.abs(random.nextGaussian()) / Math.max(0.02, random.nextDouble())),
        THROTTLED((random, seconds) -> (seconds % 97 < 60 ? 1 : 1.4) * (1 + 0.01 * random.nextGaussian())),
        BIMODAL((random, seconds) -> (random.nextInt(3) == 0 ? 1.15 : 1) * (1 + 0.005 * random.nextGaussian()));

        final TimeModel.Noise noise;

        Machine(TimeModel.Noise noise) {
            this.noise = noise;
        }
    }

    private static TimeModel model(long seed, Machine machine, ToDoubleFunction<Map<String, String>> step) {
        return model(seed, machine.noise, step);
    }

    private static TimeModel model(long seed, TimeModel.Noise noise, ToDoubleFunction<Map<String, String>> step) {
        return new TimeModel(seed, step, noise);
    }

    private static Tuner.Result tune(TimeModel model, long budget, Map<String, String> failed, List<String> log) {
        return new Tuner(
                        model,
                        KNOBS,
                        new Workload(128, 128),
                        2,
                        budget,
                        model::nanos,
                        failed,
                        (candidate, verdict, gain, quads) -> log.add(candidate.text() + ": " + verdict))
                .run();
    }

    private static Tuner.Result tune(TimeModel model) {
        return tune(model, BUDGET, Map.of(), new ArrayList<>());
    }

    private static double of(Map<String, String> settings, String name, Map<String, Double> factors) {
        return factors.getOrDefault(settings.getOrDefault(name, ""), 1.0);
    }

    @ParameterizedTest
    @EnumSource
    void equalCandidatesNeverReplaceTheDefaults(Machine machine) {
        for (int seed = 0; seed < RUNS; seed++) {
            TimeModel model = model(seed, machine, settings -> 1);
            Tuner.Result result = tune(model);
            assertEquals(Candidate.DEFAULTS, result.best(), "seed " + seed);
            assertNull(result.gain());
        }
    }

    /// Kernels of a step: what each takes when it is timed alone, and by how much its setting slows the kernels after
    /// it down, as where it takes their cache or leaves them too few processors.
    private record Kernels(Map<String, Double> alone, Map<String, Double> others) {
        private static final double USUAL = 1.0;

        /// The faster alone, the worse together: each value loses more than it gains.
        static Kernels adversarial(long seed) {
            Random random = new Random(seed);
            Map<String, Double> alone = new HashMap<>();
            Map<String, Double> others = new HashMap<>();
            for (Knob knob : KNOBS) {
                for (String value : knob.values()) {
                    double saved = 0.05 + 0.75 * random.nextDouble();
                    alone.put(knob.setting() + value, USUAL - saved);
                    others.put(knob.setting() + value, 1 + saved * (1.02 + 25 * random.nextDouble() * saved));
                }
            }
            return new Kernels(alone, others);
        }

        /// A kernel for each knob, then one that no knob changes.
        double step(Map<String, String> settings) {
            double time = 0;
            double slowed = 1;
            for (Knob knob : KNOBS) {
                String value = settings.get(knob.setting());
                time += slowed * (value == null ? USUAL : alone.get(knob.setting() + value));
                slowed *= value == null ? 1 : others.get(knob.setting() + value);
            }
            return time + slowed * USUAL;
        }
    }

    /// Whoever times kernels alone takes each of these values, and gets a step up to 25 times slower. Only whole
    /// steps are ever asked for here.
    @ParameterizedTest
    @EnumSource
    void bestAloneAndWorstInThePipelineLoses(Machine machine) {
        double worst = 1;
        for (int seed = 0; seed < RUNS; seed++) {
            Kernels kernels = Kernels.adversarial(seed);
            Map<String, String> bestAlone = new HashMap<>();
            for (Knob knob : KNOBS) {
                assertTrue(knob.values().stream().allMatch(v -> kernels.alone.get(knob.setting() + v) < Kernels.USUAL));
                bestAlone.put(
                        knob.setting(),
                        knob.values().stream()
                                .min(Comparator.comparing(v -> kernels.alone.get(knob.setting() + v)))
                                .orElseThrow());
            }
            worst = Math.max(worst, kernels.step(bestAlone) / kernels.step(Map.of()));
            Tuner.Result result = tune(model(seed, machine, kernels::step));
            assertEquals(Candidate.DEFAULTS, result.best(), "seed " + seed);
        }
        assertTrue(worst > 25, "the best alone are " + worst + " times slower together");
    }

    /// Candidates that are slower by less than the noise are the hardest to see.
    @ParameterizedTest
    @EnumSource
    void slightlySlowerCandidatesLose(Machine machine) {
        for (int seed = 0; seed < RUNS; seed++) {
            TimeModel model = model(seed, machine, settings -> 1 + 0.004 * settings.size());
            assertEquals(Candidate.DEFAULTS, tune(model).best(), "seed " + seed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void itNeverEndsSlowerThanTheDefaults(Machine machine) {
        for (int seed = 0; seed < RUNS; seed++) {
            // Gains and losses by chance, and combinations that do not add up.
            int own = seed;
            TimeModel model = model(seed, machine, settings -> {
                double factor = 1;
                for (Map.Entry<String, String> e : settings.entrySet()) {
                    factor *= 0.94 + 0.16 * (Math.floorMod((e + " " + own).hashCode(), 1000) / 1000.0);
                }
                return settings.size() < 2
                        ? factor
                        : factor * (0.95 + 0.2 * (Math.floorMod((settings + " " + own).hashCode(), 1000) / 1000.0));
            });
            Tuner.Result result = tune(model);
            double time = model.step(result.best().settings());
            assertTrue(
                    time <= model.step(Map.of()),
                    "seed " + seed + ": " + result.best().text() + " takes " + time);
        }
    }

    /// A plan keeps its luck as long as it lives; measuring one plan for longer does not help.
    @Test
    void luckOfPlansIsNoGain() {
        for (int seed = 0; seed < RUNS; seed++) {
            TimeModel model = model(seed, Machine.QUIET, settings -> 1 + 0.001 * settings.size());
            model.luck = 0.03;
            assertEquals(Candidate.DEFAULTS, tune(model).best(), "seed " + seed);
        }
    }

    @Test
    void whatIsFasterIsFoundAlsoInCombination() {
        for (Machine machine : List.of(Machine.QUIET, Machine.USUAL, Machine.DRIFTING)) {
            int found = 0;
            int both = 0;
            for (int seed = 0; seed < RUNS; seed++) {
                TimeModel model = model(
                        seed,
                        machine,
                        s -> of(s, "rows", Map.of("1", 1.3, "2", 0.92, "4", 1.1)) * of(s, "pin", Map.of("on", 0.95)));
                Tuner.Result result = tune(model);
                found += result.best().settings().isEmpty() ? 0 : 1;
                // A value without effect may have come along.
                both += result.best()
                                .settings()
                                .entrySet()
                                .containsAll(Map.of("rows", "2", "pin", "on").entrySet())
                        ? 1
                        : 0;
            }
            assertTrue(found >= RUNS - 1, machine + ": found " + found);
            assertTrue(both >= RUNS - 3, machine + ": both " + both);
        }
    }

    @Test
    void twoValuesThatHelpOnlyTogetherAreFoundByABeam() {
        TimeModel model = model(1, Machine.QUIET, s -> {
            boolean rows = "2".equals(s.get("rows"));
            boolean block = "128".equals(s.get("block"));
            return rows && block ? 0.85 : rows || block ? 0.99 : 1 + 0.02 * s.size();
        });
        assertEquals(Map.of("rows", "2", "block", "128"), tune(model).best().settings());
    }

    @Test
    void theFaultyAreThrownOutAndRemembered() {
        ToDoubleFunction<Map<String, String>> step = s -> s.isEmpty() ? 1 : 0.8;
        TimeModel model = model(1, Machine.QUIET, step);
        model.faults.putAll(Map.of(
                "rows=1",
                "hung",
                "rows=2",
                "crashed",
                "rows=4",
                "wrong",
                "block=64",
                "NaN",
                "block=128",
                "rounds",
                "claims=16",
                "rounds"));
        List<String> log = new ArrayList<>();
        Tuner.Result result = tune(model, BUDGET, Map.of(), log);
        assertEquals("hung", result.failed().get("rows=1"));
        assertEquals("crashed", result.failed().get("rows=2"));
        assertTrue(result.failed().get("rows=4").startsWith("wrong"), log.toString());
        assertTrue(result.failed().get("block=64").startsWith("wrong"));
        assertFalse(result.failed().containsKey("block=128"), "rounding is allowed where it was declared");
        assertTrue(result.failed().get("claims=16").startsWith("wrong"), "and only there");
        assertFalse(result.best().settings().isEmpty());
        // A second run does not touch them.
        TimeModel second = model(2, Machine.QUIET, step);
        tune(second, BUDGET, result.failed(), log);
        for (String text : result.failed().keySet()) {
            assertFalse(second.opened.contains(text), text);
        }
    }

    @Test
    void aCandidateThatFailsWhenItIsConfirmedIsNotTaken() {
        TimeModel model = new TimeModel(1, s -> s.containsKey("pin") ? 0.8 : 1, Machine.QUIET.noise) {
            @Override
            public void reopen(Candidate next, boolean process) throws CandidateFailure {
                throw new CandidateFailure("crashed");
            }
        };
        Tuner.Result result = tune(model);
        assertEquals(Candidate.DEFAULTS, result.best());
        assertEquals("crashed", result.failed().get("pin=on"));
    }

    @Test
    void whatWasConfirmedSurvivesDefaultsThatFailLater() {
        TimeModel model = new TimeModel(1, s -> s.containsKey("pin") ? 0.8 : 1, Machine.QUIET.noise) {
            private boolean confirmed;

            @Override
            public void reopen(Candidate next, boolean process) throws CandidateFailure {
                super.reopen(next, process);
                confirmed = true;
            }

            @Override
            public void open(Candidate next) throws CandidateFailure {
                if (confirmed) {
                    throw new TenonException(ErrorCode.BACKEND_FAILED, "the driver is gone");
                }
                super.open(next);
            }
        };
        Tuner.Result result = tune(model);
        assertEquals(Map.of("pin", "on"), result.best().settings());
        assertEquals("failed: the driver is gone [BACKEND-003]", result.end());
    }

    @Test
    void onlyWhatNeedsItIsCompiledAhead() {
        TimeModel model = model(1, Machine.QUIET, s -> 1);
        tune(model);
        assertEquals(List.of("rows=1", "block=64", "rows=2", "block=128", "rows=4", "block=256"), model.prepared);
    }

    /// A short budget tells something of each knob, and is not spent on compiling what is not tried.
    @Test
    void aShortBudgetTriesEachKnob() {
        ToDoubleFunction<Map<String, String>> slower = s -> 1 + 0.03 * s.size();
        TimeModel model = model(1, Machine.QUIET, slower);
        tune(model, 110_000_000_000L, Map.of(), new ArrayList<>());
        assertEquals(List.of("claims=16", "pin=on", "claims=32", "rows=1", "block=64"), model.opened.subList(0, 5));

        TimeModel hasty = model(1, Machine.QUIET, slower);
        tune(hasty, 80_000_000_000L, Map.of(), new ArrayList<>());
        assertTrue(hasty.opened.containsAll(List.of("claims=16", "pin=on")), hasty.opened.toString());
        assertEquals(List.of(), hasty.prepared);
    }

    @Test
    void theOtherValuesOfAKnobWithoutEffectComeLast() {
        TimeModel model = model(1, (random, seconds) -> 1, s -> s.containsKey("rows") ? 1 : 1 + 0.03 * s.size());
        tune(model);
        assertEquals(
                List.of("claims=16", "pin=on", "claims=32", "rows=1", "block=64", "block=128", "block=256", "rows=2"),
                model.opened.subList(0, 8));
    }

    @Test
    void whatMattersForPromptsOnlyIsNotTriedWithoutThem() {
        Knob splits = Knob.rounding("mm.splits", List.of("1"));
        Knob rows = Knob.rounding("mv.rows-per-thread", List.of("1"));
        assertFalse(new Workload(0, 128).concerns(splits));
        assertTrue(new Workload(0, 128).concerns(rows));
        assertTrue(new Workload(128, 0).concerns(splits));
    }

    @Test
    void theBudgetHolds() {
        for (long seconds : new long[] {10, 30, 60, 120, 300}) {
            TimeModel model = model(seconds, Machine.USUAL, s -> 1 / (1 + 0.05 * s.size()));
            Tuner.Result result = tune(model, seconds * 1_000_000_000L, Map.of(), new ArrayList<>());
            // The first candidate tells how long one takes.
            assertTrue(model.nanos() <= seconds * 1_000_000_000L + 15_000_000_000L, "took " + model.nanos());
            assertTrue(model.step(result.best().settings()) <= 1);
        }
    }

    @Test
    void toldToEndItKeepsWhatWasConfirmed() {
        ToDoubleFunction<Map<String, String>> step = s -> 1 - 0.1 * s.size();
        int whole = 0;
        for (int after = 0; after < 120; after += 4) {
            TimeModel model = model(1, Machine.QUIET, step);
            model.interruptedAfter = after;
            Tuner.Result result = tune(model);
            if (result.end().equals("interrupted")) {
                whole += result.best().settings().isEmpty() ? 0 : 1;
            }
            assertEquals(result.best().settings().isEmpty(), result.gain() == null);
        }
        assertTrue(whole > 0, "something was confirmed before the end");
    }
}
