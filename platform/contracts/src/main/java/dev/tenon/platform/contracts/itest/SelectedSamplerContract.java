package dev.tenon.platform.contracts.itest;

import dev.tenon.api.text.SamplerProvider;
import dev.tenon.itest.testkit.SamplerContract;
import java.util.Objects;

/// The sampler contract for the provider that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedSamplerContract extends SamplerContract {
    private static volatile SamplerProvider selected;

    private final SamplerProvider provider = Objects.requireNonNull(selected, "nothing is selected");

    static void select(SamplerProvider next) {
        selected = next;
    }

    @Override
    protected SamplerProvider provider() {
        return provider;
    }
}
