package dev.tenon.platform.bench.tune;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/// A backend whose time of a step is a function of its settings and of seeded noise, with a clock of its own.
class TimeModel implements Rig {
    /// Noise of a machine: the factor on the time of a block.
    interface Noise {
        double factor(Random random, double seconds);
    }

    private static final double OPEN_SECONDS = 1.5;
    private static final double START_SECONDS = 6;
    private static final double BLOCK_SECONDS = 0.6;

    private final Random random;
    private final ToDoubleFunction<Map<String, String>> step;
    private final Noise noise;
    /// Spread of the luck that a plan has as long as it lives.
    double luck;

    /// What hangs, crashes or computes something else, by text.
    final Map<String, String> faults = new HashMap<>();

    final List<String> opened = new ArrayList<>();
    final List<String> prepared = new ArrayList<>();
    final Set<Integer> processes = new HashSet<>();
    int processCount;
    /// After so many measurements it is told to end.
    int interruptedAfter = Integer.MAX_VALUE;

    private int quads;
    private double seconds;
    private Candidate candidate;
    private double luckOfDefaults = 1;
    private double luckOfCandidate = 1;

    TimeModel(long seed, ToDoubleFunction<Map<String, String>> step, Noise noise) {
        this.random = new Random(seed);
        this.step = step;
        this.noise = noise;
    }

    long nanos() {
        return (long) (seconds * 1e9);
    }

    double step(Map<String, String> settings) {
        return step.applyAsDouble(settings);
    }

    @Override
    public void prepare(List<Candidate> candidates) {
        candidates.forEach(each -> prepared.add(each.text()));
    }

    @Override
    public void open(Candidate next) throws CandidateFailure {
        if (processCount == 0) {
            processCount++;
            seconds += START_SECONDS;
            luckOfDefaults = luck();
        }
        begin(next);
    }

    @Override
    public void reopen(Candidate next, boolean process) throws CandidateFailure {
        if (process) {
            processCount++;
            seconds += START_SECONDS;
        }
        luckOfDefaults = luck();
        begin(next);
    }

    private void begin(Candidate next) throws CandidateFailure {
        seconds += OPEN_SECONDS;
        opened.add(next.text());
        candidate = next;
        luckOfCandidate = luck();
        String fault = faults.getOrDefault(next.text(), "");
        if (fault.equals("hung") || fault.equals("crashed")) {
            seconds += fault.equals("hung") ? 30 : 0;
            throw new CandidateFailure(fault);
        }
    }

    /// Two clusters, as where the one or the other code was compiled.
    private double luck() {
        return random.nextBoolean() ? 1 + luck : 1 - luck;
    }

    @Override
    public double difference() {
        String fault = faults.getOrDefault(candidate.text(), "");
        return fault.equals("wrong") ? 0.3 : fault.equals("NaN") ? Double.NaN : fault.equals("rounds") ? 1e-7 : 0;
    }

    private Workload.Times block(Map<String, String> settings, double luckOfPlan) {
        double prompt = step(settings) * luckOfPlan * noise.factor(random, seconds);
        double token = step(settings) * luckOfPlan * noise.factor(random, seconds);
        seconds += BLOCK_SECONDS * step(settings);
        return new Workload.Times(prompt, token);
    }

    @Override
    public Workload.Quad quad() {
        if (++quads > interruptedAfter) {
            throw new Interrupted();
        }
        Workload.Times a1 = block(Map.of(), luckOfDefaults);
        Workload.Times b1 = block(candidate.settings(), luckOfCandidate);
        Workload.Times b2 = block(candidate.settings(), luckOfCandidate);
        Workload.Times a2 = block(Map.of(), luckOfDefaults);
        return new Workload.Quad(a1, b1, b2, a2);
    }

    @Override
    public void close() {}
}
