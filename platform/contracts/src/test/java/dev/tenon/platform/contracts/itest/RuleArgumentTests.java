package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.contracts.itest.ContractRun.Case;
import dev.tenon.platform.contracts.itest.ContractRun.Outcome;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Processors that need an argument.
class RuleArgumentTests {
    /// Takes only `yes`.
    private static final class Needy implements LogitsProcessorProvider {
        @Override
        public String id() {
            return "needy";
        }

        @Override
        public LogitsProcessor create(String argument, Tokenizer tokenizer) {
            if (!argument.equals("yes")) {
                throw new IllegalArgumentException("only 'yes' is understood");
            }
            return (history, logits) -> {};
        }
    }

    private static List<Case> cases(Map<String, String> given) {
        SelectedProcessorContract.select(
                new SelectedProcessorContract.Selection(new Needy(), new RuleArgument("needy", given)));
        return ContractRun.of("a processor", SelectedProcessorContract.class, test -> {})
                .cases();
    }

    @Test
    void withoutItCasesAreSkippedAndSayHowToGiveIt() {
        List<Case> skipped = cases(Map.of()).stream()
                .filter(each -> each.outcome() == Outcome.SKIPPED)
                .toList();
        assertEquals(7, skipped.size());
        for (Case each : skipped) {
            assertTrue(
                    each.reason().contains("only 'yes' is understood")
                            && each.reason().contains("--argument needy=ARG"),
                    each::reason);
        }
    }

    @Test
    void withItAllCasesRun() {
        List<Case> cases = cases(Map.of("needy", "yes"));
        assertTrue(cases.size() > 7);
        assertTrue(cases.stream().allMatch(each -> each.outcome() == Outcome.PASSED), cases::toString);
    }
}
