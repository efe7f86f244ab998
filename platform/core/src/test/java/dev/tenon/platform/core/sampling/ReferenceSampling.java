package dev.tenon.platform.core.sampling;

import dev.tenon.api.text.Dry;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.SamplingStage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The probabilities of each step written down plainly, in double precision: a map of the tokens that are left to
/// their logits, which each step changes.
final class ReferenceSampling {
    private final SamplingParams params;
    private final int[] history;
    /// The most bits by which a token may surprise, of mirostat.
    private double mu;

    private double[] last;

    ReferenceSampling(SamplingParams params, int[] history) {
        this.params = params;
        this.history = history;
        this.mu = 2 * params.mirostat().tau();
    }

    /// {@return the probability of each token}
    double[] probabilities(float[] logits) {
        double[] uncut = probabilities(logits, false);
        double share = params.xtc().probability();
        double[] cut = share > 0 ? probabilities(logits, true) : uncut;
        last = new double[logits.length];
        for (int i = 0; i < last.length; i++) {
            last[i] = share * cut[i] + (1 - share) * uncut[i];
        }
        return last;
    }

    /// Has mirostat learn from a token.
    void drew(int token) {
        mu -= params.mirostat().eta()
                * (-Math.log(last[token]) / Math.log(2) - params.mirostat().tau());
    }

    private double[] probabilities(float[] logits, boolean cut) {
        Map<Integer, Double> left = new TreeMap<>();
        for (int i = 0; i < logits.length; i++) {
            double logit = logits[i] + params.logitBias().getOrDefault(i, 0f);
            if (logit != Double.NEGATIVE_INFINITY) {
                left.put(i, logit);
            }
        }
        boolean mirostat = params.mirostat().version() > 0;
        List<SamplingStage> beside = List.of(SamplingStage.PENALTIES, SamplingStage.DRY, SamplingStage.TEMPERATURE);
        for (SamplingStage stage : params.stages()) {
            if (!mirostat || beside.contains(stage)) {
                step(stage, left, cut);
            }
        }
        if (mirostat) {
            left = params.mirostat().version() == 1 ? first(left, logits.length) : second(left);
        }
        double[] probabilities = new double[logits.length];
        normal(left).forEach((id, p) -> probabilities[id] = p);
        return probabilities;
    }

    private static Map<Integer, Double> normal(Map<Integer, Double> logits) {
        double sum = logits.values().stream().mapToDouble(Math::exp).sum();
        Map<Integer, Double> p = new TreeMap<>();
        logits.forEach((id, logit) -> p.put(id, Math.exp(logit) / sum));
        return p;
    }

    private static List<Integer> descending(Map<Integer, Double> values) {
        List<Integer> ids = new ArrayList<>(values.keySet());
        ids.sort(Comparator.comparingDouble((Integer id) -> -values.get(id)).thenComparing(id -> id));
        return ids;
    }

    private void step(SamplingStage stage, Map<Integer, Double> left, boolean cut) {
        Map<Integer, Double> p = normal(left);
        List<Integer> best = descending(left);
        double entropy = p.values().stream().mapToDouble(x -> -x * Math.log(x)).sum();
        switch (stage) {
            case PENALTIES -> penalise(left);
            case DRY -> dry(left);
            case TOP_N_SIGMA -> {
                double mean =
                        left.values().stream().mapToDouble(x -> x).average().orElseThrow();
                double variance = left.values().stream()
                        .mapToDouble(x -> (x - mean) * (x - mean))
                        .average()
                        .orElseThrow();
                double least = left.get(best.getFirst()) - params.topNSigma() * Math.sqrt(variance);
                left.values().removeIf(x -> params.topNSigma() > 0 && x < least);
            }
            case TOP_K ->
                left.keySet()
                        .retainAll(
                                params.topK() > 0 && params.topK() < best.size()
                                        ? best.subList(0, params.topK())
                                        : best);
            case TYP_P -> {
                best.sort(Comparator.comparingDouble(id -> Math.abs(-Math.log(p.get(id)) - entropy)));
                left.keySet().retainAll(reached(best, p, params.typicalP(), true));
            }
            case TOP_P -> left.keySet().retainAll(reached(best, p, params.topP(), false));
            case MIN_P -> left.keySet().removeIf(id -> p.get(id) < params.minP() * p.get(best.getFirst()));
            case XTC -> {
                List<Integer> probable = best.stream()
                        .filter(id -> p.get(id) >= params.xtc().threshold())
                        .toList();
                if (cut && params.xtc().threshold() <= 0.5 && probable.size() > 1) {
                    left.keySet().removeAll(probable.subList(0, probable.size() - 1));
                }
            }
            case TEMPERATURE -> {
                double range = params.dynamicTemperature().range();
                double low = Math.max(0, params.temperature() - range);
                double share = entropy / Math.log(left.size());
                double temperature = range == 0 || left.size() == 1
                        ? params.temperature()
                        : low
                                + (params.temperature() + range - low)
                                        * Math.pow(
                                                share,
                                                params.dynamicTemperature().exponent());
                left.replaceAll((id, x) -> x / temperature);
            }
        }
    }

    private static List<Integer> reached(List<Integer> order, Map<Integer, Double> p, double wanted, boolean exceeded) {
        double sum = 0;
        for (int i = 0; i < order.size(); i++) {
            sum += p.get(order.get(i));
            if (wanted < 1 && (exceeded ? sum > wanted : sum >= wanted)) {
                return order.subList(0, i + 1);
            }
        }
        return order;
    }

    private void penalise(Map<Integer, Double> left) {
        int from = params.repeatLastN() < 0 ? 0 : Math.max(0, history.length - params.repeatLastN());
        left.replaceAll((id, x) -> {
            int count = 0;
            for (int i = from; i < history.length; i++) {
                count += history[i] == id ? 1 : 0;
            }
            double divided = x <= 0 ? x * params.repeatPenalty() : x / params.repeatPenalty();
            return count == 0 ? x : divided - count * params.frequencyPenalty() - params.presencePenalty();
        });
    }

    /// For each token, the longest end of the history that occurs before with this token after it.
    private void dry(Map<Integer, Double> left) {
        Dry dry = params.dry();
        int from = dry.lastN() < 0 ? 0 : Math.max(0, history.length - dry.lastN());
        List<Integer> tokens = new ArrayList<>();
        for (int i = from; i < history.length; i++) {
            tokens.add(history[i]);
        }
        int most = tokens.size();
        for (List<Integer> breaker : dry.breakers()) {
            for (int end = breaker.size(); end <= tokens.size(); end++) {
                if (tokens.subList(end - breaker.size(), end).equals(breaker)) {
                    most = Math.min(most, tokens.size() - end);
                }
            }
        }
        int longest = most;
        left.replaceAll((id, x) -> {
            for (int m = longest; m >= dry.allowedLength(); m--) {
                List<Integer> repeated = new ArrayList<>(tokens.subList(tokens.size() - m, tokens.size()));
                repeated.add(id);
                if (Collections.indexOfSubList(tokens, repeated) >= 0
                        && !dry.breakers().contains(List.of(id))) {
                    return x - dry.multiplier() * Math.pow(dry.base(), m - dry.allowedLength());
                }
            }
            return x;
        });
    }

    private Map<Integer, Double> first(Map<Integer, Double> left, int vocabularySize) {
        List<Integer> best = descending(left);
        Map<Integer, Double> p = normal(left);
        double products = 0;
        double squares = 0;
        for (int i = 0; i < Math.min(100, best.size()) - 1; i++) {
            double t = Math.log((i + 2.0) / (i + 1));
            products += t * Math.log(p.get(best.get(i)) / p.get(best.get(i + 1)));
            squares += t * t;
        }
        double s = products / squares;
        double k = Math.pow((s - 1) * Math.pow(2, mu) / (1 - Math.pow(vocabularySize, 1 - s)), 1 / s);
        left.keySet().retainAll(best.subList(0, (int) Math.clamp(k, 1, best.size())));
        return left;
    }

    private Map<Integer, Double> second(Map<Integer, Double> left) {
        Map<Integer, Double> p = normal(left);
        int best = descending(left).getFirst();
        left.keySet().removeIf(id -> id != best && -Math.log(p.get(id)) / Math.log(2) > mu);
        return left;
    }
}
