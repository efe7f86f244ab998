package dev.tenon.platform.contracts.itest;

import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.itest.testkit.TokenProposerContract;
import java.util.Objects;

/// The contract of proposers of tokens for the provider that the command was told. JUnit makes the object, so what it
/// is about comes through [#select]; one run at a time.
final class SelectedProposerContract extends TokenProposerContract {
    /// What to test.
    ///
    /// @param provider the provider
    /// @param argument what it makes one of
    record Selection(TokenProposerProvider provider, RuleArgument argument) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected TokenProposerProvider provider() {
        return selection.provider();
    }

    @Override
    protected String argument() {
        return selection.argument().taken(argument -> provider().create(argument, tokenizer()));
    }
}
