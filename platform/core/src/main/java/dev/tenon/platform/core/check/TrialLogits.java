package dev.tenon.platform.core.check;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.platform.core.placement.Placement;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/// The logits of a short text, which tell whether a model computes the same on another placement.
///
/// The text is a prompt and one token after it; which tokens, only depends on the size of the
/// vocabulary.
public final class TrialLogits {
    private static final int LENGTH = 16;

    private final float[][] rows;

    /// @param rows what was computed; never changed
    public TrialLogits(float[][] rows) {
        this.rows = rows;
    }

    /// How the logits of two placements differ.
    ///
    /// @param nmse normalised mean square error, relative to the first ones
    /// @param largest the largest difference of two logits
    /// @param row the first row after which another token is the most probable one, or -1
    /// @param before that token on the first placement
    /// @param after that token on the second one
    public record Difference(double nmse, double largest, int row, int before, int after) {
        /// {@return in words, to follow what was computed, such as "the logits of a short text"}
        public String text() {
            return String.format(Locale.ROOT, "differ: NMSE %.2g, by %.3g at most", nmse, largest)
                    + (row < 0
                            ? ", with the same most probable tokens"
                            : "; the most probable token number " + (row + 1) + " was " + before + " and becomes "
                                    + after);
        }
    }

    /// Runs the text. Nobody else uses the placement meanwhile; what its cache holds is lost.
    ///
    /// @param placement a placement without sequences
    /// @param maxBatchTokens most tokens of a step
    /// @return the logits after each token
    public static TrialLogits of(Placement placement, int maxBatchTokens) {
        Plan plan = placement.plan();
        int perPage = plan.kvPages().tokensPerPage();
        int length = (int) Math.min(LENGTH, (long) plan.kvPages().pageCount() * perPage);
        int[] pages = IntStream.range(0, (length + perPage - 1) / perPage).toArray();
        int vocabulary = placement.definition().config().vocabularySize();
        float[][] rows =
                new float[length][placement.definition().graph().output().width()];
        int from = 0;
        while (from < length) {
            int to = from == length - 1 ? length : Math.min(length - 1, from + maxBatchTokens);
            StepInput input = new StepInput();
            input.addSequence(pages, 0);
            for (int t = from; t < to; t++) {
                input.addToken((31 * t + 7) % vocabulary, t, true);
            }
            StepResult result = plan.run(input);
            placement.check().run();
            for (int t = from; t < to; t++) {
                result.logits(t - from, rows[t]);
            }
            from = to;
        }
        return new TrialLogits(rows);
    }

    /// {@return whether others can be compared with these}
    public boolean finite() {
        for (float[] row : rows) {
            for (float logit : row) {
                if (!Float.isFinite(logit)) {
                    return false;
                }
            }
        }
        return true;
    }

    /// {@return how other logits of the text differ from these, if one bit does}
    ///
    /// @param next the others, of the same number and width
    public Optional<Difference> to(TrialLogits next) {
        double error = 0;
        double power = 0;
        double largest = 0;
        int other = -1;
        boolean same = true;
        for (int r = 0; r < rows.length; r++) {
            float[] a = rows[r];
            float[] b = next.rows[r];
            for (int i = 0; i < a.length; i++) {
                double d = (double) b[i] - a[i];
                error += d * d;
                power += (double) a[i] * a[i];
                largest = Math.max(largest, Math.abs(d));
                same &= Float.compare(a[i], b[i]) == 0;
            }
            if (other < 0 && best(a) != best(b)) {
                other = r;
            }
        }
        return same
                ? Optional.empty()
                : Optional.of(new Difference(
                        error / power,
                        largest,
                        other,
                        other < 0 ? -1 : best(rows[other]),
                        other < 0 ? -1 : best(next.rows[other])));
    }

    private static int best(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            best = logits[i] > logits[best] ? i : best;
        }
        return best;
    }
}
