package dev.tenon.itest.testkit.reference;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.text.TokenSampling;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/// Samples tokens step by step from a plan's logits, as [TokenGenerator] describes it. On one thread.
///
/// @param plan runs the steps
/// @param vocabularySize number of tokens
public record HostGenerator(Plan plan, int vocabularySize) implements TokenGenerator {
    @Override
    public boolean supports(TokenSampling choice) {
        return true;
    }

    @Override
    public void generate(StepInput input, List<TokenSampling> choices, int steps, TokenSink sink) {
        int count = input.tokenCount();
        if (count != choices.size() || count != input.sequenceCount() || count != input.logitRows()) {
            throw new IllegalArgumentException("expected a token, a row of logits and a choice for each sequence");
        }
        int perPage = plan.kvPages().tokensPerPage();
        int[] tokens = new int[count];
        for (int s = 0; s < count; s++) {
            tokens[s] = input.token(s);
            if ((input.position(s) + steps - 1) / perPage >= input.pageTable(s).length) {
                throw new IllegalArgumentException("sequence " + s + " has no pages for " + steps + " steps");
            }
        }
        boolean more = true;
        for (int step = 0; step < steps && more; step++) {
            StepInput next = new StepInput();
            for (int s = 0; s < count; s++) {
                next.addSequence(input.pageTable(s), input.stateSlot(s), input.adapterScales(s));
                next.addToken(tokens[s], input.position(s) + step, true);
            }
            StepResult result = plan.run(next);
            float[] logits = new float[vocabularySize];
            for (int s = 0; s < count; s++) {
                result.logits(s, logits);
                tokens[s] = sample(logits, null, choices.get(s), step);
            }
            more = sink.accept(tokens.clone());
        }
    }

    /// {@return the token that a policy samples from a row; -1 if the mask has none}
    ///
    /// @param logits the row, of finite numbers
    /// @param mask which tokens may be sampled, as [StepInput#mask] has it; null for all
    /// @param choice the policy
    /// @param step how many steps after the policy's first
    public static int sample(float[] logits, long[] mask, TokenSampling choice, int step) {
        List<Integer> best = IntStream.range(0, logits.length)
                .filter(id -> mask == null || (mask[id / Long.SIZE] >>> id & 1) != 0)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer id) -> -logits[id]).thenComparing(id -> id))
                .toList();
        if (best.isEmpty() || choice.params().temperature() == 0) {
            return best.isEmpty() ? -1 : best.getFirst();
        }
        if (choice.params().topK() > 0) {
            best = best.subList(0, Math.min(choice.params().topK(), best.size()));
        }
        float top = logits[best.getFirst()];
        double sum = 0;
        for (int id : best) {
            sum += Math.exp(logits[id] - top);
        }
        int kept = 0;
        double reached = 0;
        while (kept < best.size()
                && (kept == 0
                        || choice.params().topP() >= 1
                        || reached < choice.params().topP())) {
            reached += Math.exp(logits[best.get(kept++)] - top) / sum;
        }
        while (kept > 1
                && choice.params().minP() > 0
                && logits[best.get(kept - 1)] < top + Math.log(choice.params().minP())) {
            kept--;
        }
        best = best.subList(0, kept);
        double total = 0;
        for (int id : best) {
            total += Math.exp((logits[id] - top) / choice.params().temperature());
        }
        SplittableRandom random = new SplittableRandom(choice.params().seed());
        for (long i = 0; i < choice.drawn() + step; i++) {
            random.nextLong();
        }
        double left = random.nextDouble() * total;
        for (int id : best) {
            left -= Math.exp((logits[id] - top) / choice.params().temperature());
            if (left < 0) {
                return id;
            }
        }
        return best.getFirst();
    }
}
