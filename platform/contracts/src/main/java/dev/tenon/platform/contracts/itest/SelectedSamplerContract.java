package dev.tenon.platform.contracts.itest;

import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.testkit.SamplerContract;
import java.util.Objects;

/// The sampler contract for the provider that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedSamplerContract extends SamplerContract {
    /// What to test.
    ///
    /// @param provider the provider
    /// @param argument what it makes one of
    record Selection(SamplerProvider provider, RuleArgument argument) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected SamplerProvider provider() {
        return selection.provider();
    }

    @Override
    protected String argument() {
        return selection
                .argument()
                .taken(argument -> provider()
                        .create(SamplingParams.greedy(), tokenizer().vocabularySize(), argument, tokenizer()));
    }
}
