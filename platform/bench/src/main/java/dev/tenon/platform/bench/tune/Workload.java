package dev.tenon.platform.bench.tune;

import dev.tenon.api.config.Knob;
import dev.tenon.platform.bench.measure.Interval;
import dev.tenon.platform.bench.measure.SignedRank;
import java.util.List;
import java.util.function.ToDoubleFunction;

/// What is to be fast: a prompt of some tokens and so many generated ones, whose times are added up.
///
/// @param prompt tokens of the prompt; 0 leaves prompts out
/// @param generated generated tokens; 0 leaves them out
record Workload(int prompt, int generated) {
    /// Times of the two variants, defaults `a` and candidate `b`, measured in the order A B B A or B A A B.
    ///
    /// @param a1 the defaults, next to `b1`
    /// @param b1 the candidate
    /// @param b2 the candidate, next to `a2`
    /// @param a2 the defaults
    record Quad(Times a1, Times b1, Times b2, Times a2) {
        /// {@return by what share of its time the candidate is faster, as a logarithm; a drift that is even in time
        /// cancels}
        ///
        /// @param part the time that is compared
        double gain(ToDoubleFunction<Times> part) {
            return (Math.log(part.applyAsDouble(a1) / part.applyAsDouble(b1))
                            + Math.log(part.applyAsDouble(a2) / part.applyAsDouble(b2)))
                    / 2;
        }
    }

    /// Nanoseconds of one variant.
    ///
    /// @param prompt of a token of a prompt
    /// @param token of a generated token
    record Times(double prompt, double token) {}

    /// What the names of settings begin with that concern products of many rows, which only steps of prompts have.
    private static final String MANY_ROWS = "mm.";

    /// {@return whether a knob can matter for the work}
    ///
    /// @param knob the knob
    boolean concerns(Knob knob) {
        return prompt > 0 || !knob.setting().startsWith(MANY_ROWS);
    }

    /// {@return nanoseconds of the whole work}
    ///
    /// @param times the parts
    double total(Times times) {
        return prompt * times.prompt + generated * times.token;
    }

    /// {@return the gain of a candidate in the whole work, with its interval}
    ///
    /// @param quads measurements, at least one
    /// @param error chance that the true gain lies below the interval
    Interval gain(List<Quad> quads, double error) {
        return of(quads, error, this::total);
    }

    /// {@return the gain in the part that gains least; of the whole where there is one part only}
    ///
    /// @param quads measurements, at least one
    /// @param error chance that the true gain lies below the interval
    Interval least(List<Quad> quads, double error) {
        Interval prompts = of(quads, error, prompt == 0 ? Times::token : Times::prompt);
        Interval tokens = of(quads, error, generated == 0 ? Times::prompt : Times::token);
        return prompts.estimate() < tokens.estimate() ? prompts : tokens;
    }

    private static Interval of(List<Quad> quads, double error, ToDoubleFunction<Times> part) {
        return SignedRank.of(
                error, quads.stream().mapToDouble(quad -> quad.gain(part)).toArray());
    }
}
