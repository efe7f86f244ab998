package dev.tenon.platform.bench.tune;

import dev.tenon.api.config.Knob;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/// Searches among the values of knobs by the time of whole steps.
///
/// A round extends each of the best candidates so far (the beam; at first the defaults) by one value of
/// one more knob and races them against the defaults: one that falls behind is left early. A value of each knob comes
/// before the second of any, what needs no compilation before the rest, and the other values of a knob whose first one
/// changed nothing last: a short budget tells something of each knob. After the
/// first round, the best values of all knobs are raced together. What looks best is then measured afresh, in processes
/// and plans of its own, and counts only if those
/// measurements alone say that it is faster. What is not confirmed does not come out.
///
/// For one thread.
final class Tuner {
    /// The smallest gain that is worth a setting.
    static final double LEAST_GAIN = 0.005;
    /// Pairs of plans that confirm a candidate, and how many of them are enough when time runs out.
    static final int CONFIRMING = 12;
    /// Chance that a candidate that is as fast as the defaults is confirmed.
    static final double ERROR = 0.001;
    /// Largest difference of logits of candidates that do not keep bits: the contract's bound on rounding.
    static final double ROUNDING = 2.7e-3;

    private static final int RACE = 4;
    private static final int LEAST_CONFIRMING = 10;
    private static final int PROCESSES = 2;
    private static final int FIRST_OVER_LATER = 8;
    private static final int FUTILE = 4;
    private static final double ONE_SIDE = 0.5;
    private static final double HOPELESS = -0.1;
    private static final double WORSE = -0.01;
    private static final int CONFIRMED_A_ROUND = 2;

    /// Hears what happens, for the log.
    interface Log {
        /// A candidate was raced or measured for confirmation.
        ///
        /// @param candidate the candidate
        /// @param verdict what became of it
        /// @param gain in the whole work, as a logarithm; null where it was not measured
        /// @param quads how many measurements
        void outcome(Candidate candidate, String verdict, Interval gain, int quads);
    }

    /// What came out.
    ///
    /// @param best the confirmed settings; the defaults where none were
    /// @param gain what the confirming measurements say; null for the defaults
    /// @param failed what hung, failed or computed something else, by the candidate's text
    /// @param tried how many candidates were measured
    /// @param end why it ended: `complete`, `budget`, `interrupted`, or `failed: ` and a message
    /// @param confirmNanos what confirming one candidate takes
    record Result(
            Candidate best, Interval gain, Map<String, String> failed, int tried, String end, long confirmNanos) {}

    private record Raced(Candidate candidate, double gain) {}

    /// A candidate of a round.
    ///
    /// @param candidate the candidate
    /// @param bar the gain of what it extends, which it has to exceed
    /// @param expected its gain if gains add up
    private record Extension(Candidate candidate, double bar, double expected) {}

    private final Rig rig;
    private final List<Knob> knobs;
    private final Workload workload;
    private final int width;
    private final long endNanos;
    private final LongSupplier clock;
    private final Log log;
    private final Map<String, String> failed;
    private final Set<Candidate> tried = new HashSet<>();
    /// Gains of values on their own. Those that made the defaults slower are not combined any further.
    private final Map<Candidate, Double> alone = new HashMap<>();
    private Candidate best = Candidate.DEFAULTS;
    private Interval bestGain;
    /// Nanoseconds of making a candidate ready: of the first, which starts a process, and of a later one.
    private long firstNanos;

    private long laterNanos;
    private long openNanos;
    private long quadNanos;

    /// @param rig measures; borrowed
    /// @param knobs what is tried
    /// @param workload what is to be fast
    /// @param width how many candidates a round leaves for the next one
    /// @param budgetNanos how long to search and confirm
    /// @param clock tells nanoseconds
    /// @param failedBefore candidates that are not tried again, by text, and why
    /// @param log hears what happens
    Tuner(
            Rig rig,
            List<Knob> knobs,
            Workload workload,
            int width,
            long budgetNanos,
            LongSupplier clock,
            Map<String, String> failedBefore,
            Log log) {
        this.rig = rig;
        this.knobs = List.copyOf(knobs);
        this.workload = workload;
        this.width = width;
        this.clock = clock;
        this.endNanos = clock.getAsLong() + budgetNanos;
        this.failed = new HashMap<>(failedBefore);
        this.log = log;
    }

    /// Searches until no round finds anything better, the budget is spent, or it is told to end.
    ///
    /// @return what was confirmed until then
    /// @throws TenonException if the defaults cannot be measured, and nothing was confirmed before
    Result run() {
        String end = "complete";
        try {
            List<Raced> beam = List.of(new Raced(Candidate.DEFAULTS, 0));
            while (!beam.isEmpty()) {
                List<Extension> round = extensions(beam);
                int before = tried.size();
                List<Raced> raced = race(round);
                boolean all = tried.size() - before == round.size();
                if (beam.getFirst().candidate.equals(Candidate.DEFAULTS)) {
                    raced = withUnion(raced);
                }
                beam = raced.stream().limit(width).toList();
                confirmBest(raced);
                if (!all) {
                    end = "budget";
                    break;
                }
            }
        } catch (Interrupted e) {
            end = "interrupted";
        } catch (TenonException e) {
            if (bestGain == null) {
                throw e;
            }
            end = "failed: " + e.getMessage();
        }
        return new Result(best, bestGain, Map.copyOf(failed), tried.size(), end, confirmNanos());
    }

    /// {@return nanoseconds that are left for searching, those for confirming set aside}
    private long remaining() {
        return endNanos - clock.getAsLong() - confirmNanos();
    }

    private long confirmNanos() {
        return CONFIRMING * (openNanos + quadNanos) + PROCESSES * firstNanos;
    }

    private void opened(long nanos) {
        if (firstNanos == 0) {
            firstNanos = nanos;
            openNanos = nanos / FIRST_OVER_LATER;
        } else {
            // One after a fault starts a process again, and says nothing of the others.
            openNanos = Math.min(firstNanos, laterNanos == 0 ? nanos : Math.min(laterNanos, nanos));
            laterNanos = openNanos;
        }
    }

    /// Races the best values of all knobs together, which is the end of the search where gains add up.
    ///
    /// @param raced values that are better alone, the best first
    /// @return them and, if it is better than each of them, their union before them
    private List<Raced> withUnion(List<Raced> raced) {
        Map<String, String> union = new HashMap<>();
        double expected = 0;
        for (Raced each : raced) {
            for (Map.Entry<String, String> value : each.candidate.settings().entrySet()) {
                expected += union.putIfAbsent(value.getKey(), value.getValue()) == null ? each.gain : 0;
            }
        }
        Candidate together = new Candidate(union);
        if (union.size() < 2 || failed.containsKey(together.text())) {
            return raced;
        }
        List<Raced> all = new ArrayList<>(race(List.of(new Extension(together, raced.getFirst().gain, expected))));
        all.addAll(raced);
        return all;
    }

    /// {@return the values of all knobs, those first that need no compilation, and a value of each knob before the
    /// second of any}
    private List<Map.Entry<String, String>> values() {
        List<Map.Entry<String, String>> all = new ArrayList<>();
        for (boolean compiled : new boolean[] {false, true}) {
            List<Knob> those =
                    knobs.stream().filter(knob -> knob.compiles() == compiled).toList();
            int most =
                    those.stream().mapToInt(knob -> knob.values().size()).max().orElse(0);
            for (int i = 0; i < most; i++) {
                for (Knob knob : those) {
                    if (i < knob.values().size()) {
                        all.add(Map.entry(knob.setting(), knob.values().get(i)));
                    }
                }
            }
        }
        return all;
    }

    /// {@return the candidates of a round that have neither been tried nor failed, the most promising first}
    private List<Extension> extensions(List<Raced> beam) {
        Map<Candidate, Extension> all = new LinkedHashMap<>();
        for (Raced from : beam) {
            for (Map.Entry<String, String> value : values()) {
                double gain = alone.getOrDefault(Candidate.DEFAULTS.with(value.getKey(), value.getValue()), 0.0);
                if (gain >= WORSE && !from.candidate.settings().containsKey(value.getKey())) {
                    Candidate next = from.candidate.with(value.getKey(), value.getValue());
                    all.putIfAbsent(next, new Extension(next, from.gain, from.gain + gain));
                }
            }
        }
        all.keySet().removeAll(tried);
        all.keySet().removeIf(candidate -> failed.containsKey(candidate.text()));
        return all.values().stream()
                .sorted(Comparator.comparingDouble(Extension::expected).reversed())
                .toList();
    }

    /// Races candidates, as far as the budget goes.
    ///
    /// @return those that look better than what they extend, the best first
    private List<Raced> race(List<Extension> round) {
        List<Raced> better = new ArrayList<>();
        List<Extension> open = new ArrayList<>(round);
        boolean compiled = false;
        while (!open.isEmpty() && remaining() >= openNanos + 2 * quadNanos) {
            if (!compiled && open.getFirst().candidate.compiles(knobs)) {
                compiled = true;
                compile(open);
            }
            Extension each = open.removeFirst();
            Candidate candidate = each.candidate;
            tried.add(candidate);
            try {
                long start = clock.getAsLong();
                rig.open(candidate);
                require(candidate);
                opened(clock.getAsLong() - start);
                double gain = race(each);
                if (candidate.settings().size() == 1) {
                    alone.put(candidate, gain);
                    if (Math.abs(gain) < LEAST_GAIN) {
                        putLast(candidate.settings().keySet(), open);
                    }
                }
                if (gain >= each.bar + LEAST_GAIN) {
                    better.add(new Raced(candidate, gain));
                }
            } catch (CandidateFailure e) {
                fail(candidate, e);
            }
        }
        better.sort(Comparator.comparingDouble(Raced::gain).reversed());
        return better;
    }

    /// Compiles for those that need it; a single one compiles when it is opened.
    private void compile(List<Extension> open) {
        List<Candidate> all = open.stream()
                .map(Extension::candidate)
                .filter(candidate -> candidate.compiles(knobs))
                .toList();
        if (all.size() > 1) {
            rig.prepare(all);
        }
    }

    private static void putLast(Set<String> settings, List<Extension> open) {
        List<Extension> last = open.stream()
                .filter(each -> each.candidate.settings().keySet().equals(settings))
                .toList();
        open.removeAll(last);
        open.addAll(last);
    }

    private void fail(Candidate candidate, CandidateFailure e) {
        failed.put(candidate.text(), e.getMessage());
        log.outcome(candidate, e.getMessage(), null, 0);
    }

    private void require(Candidate candidate) throws CandidateFailure {
        double difference = rig.difference();
        boolean exact = candidate.keepsBits(knobs);
        if (exact ? difference != 0 : !(difference <= ROUNDING)) {
            throw new CandidateFailure(String.format("wrong: logits differ (NMSE %.1e)", difference));
        }
    }

    private double race(Extension each) throws CandidateFailure {
        List<Workload.Quad> quads = new ArrayList<>();
        Interval gain;
        boolean behind;
        do {
            quads.add(quad());
            gain = workload.gain(quads, ONE_SIDE);
            behind = gain.estimate() < HOPELESS || quads.size() > 1 && most(quads) < each.bar + LEAST_GAIN;
        } while (!behind && quads.size() < RACE);
        boolean better = !behind && gain.estimate() >= each.bar + LEAST_GAIN;
        log.outcome(each.candidate, better ? "promising" : "no better", gain, quads.size());
        return gain.estimate();
    }

    /// {@return the largest gain that was measured}
    private double most(List<Workload.Quad> quads) {
        return quads.stream()
                .mapToDouble(quad -> quad.gain(workload::total))
                .max()
                .orElseThrow();
    }

    private Workload.Quad quad() throws CandidateFailure {
        long start = clock.getAsLong();
        Workload.Quad quad = rig.quad();
        quadNanos = quadNanos == 0 ? clock.getAsLong() - start : (3 * quadNanos + clock.getAsLong() - start) / 4;
        return quad;
    }

    /// Confirms the best of a round, or the next best.
    private void confirmBest(List<Raced> raced) {
        int attempts = 0;
        for (Raced each : raced) {
            double bar = bestGain == null ? LEAST_GAIN : Math.max(LEAST_GAIN, bestGain.estimate());
            if (each.gain < bar || attempts == CONFIRMED_A_ROUND) {
                return;
            }
            attempts++;
            try {
                Interval gain = confirm(each.candidate);
                if (gain != null && (bestGain == null || gain.estimate() > bestGain.estimate())) {
                    best = each.candidate;
                    bestGain = gain;
                    return;
                }
            } catch (CandidateFailure e) {
                fail(each.candidate, e);
            }
        }
    }

    /// {@return the gain, or null if it is not beyond the noise}
    private Interval confirm(Candidate candidate) throws CandidateFailure {
        List<Workload.Quad> quads = new ArrayList<>();
        for (int i = 0; i < CONFIRMING; i++) {
            if (clock.getAsLong() > endNanos) {
                break;
            }
            rig.reopen(candidate, i % (CONFIRMING / PROCESSES) == 0);
            require(candidate);
            quads.add(quad());
            if (i + 1 == FUTILE && workload.gain(quads, ONE_SIDE).estimate() <= 0) {
                break;
            }
        }
        if (quads.size() < LEAST_CONFIRMING) {
            String why = clock.getAsLong() > endNanos ? "not confirmed: no time left" : "not confirmed";
            log.outcome(candidate, why, quads.isEmpty() ? null : workload.gain(quads, ERROR), quads.size());
            return null;
        }
        Interval gain = workload.gain(quads, ERROR);
        Interval least = workload.least(quads, ERROR);
        boolean faster = gain.low() > 0 && gain.estimate() >= LEAST_GAIN && least.estimate() >= -LEAST_GAIN;
        log.outcome(candidate, faster ? "confirmed" : "not confirmed", gain, quads.size());
        return faster ? gain : null;
    }
}
