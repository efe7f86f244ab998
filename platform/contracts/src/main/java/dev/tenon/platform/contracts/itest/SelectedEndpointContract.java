package dev.tenon.platform.contracts.itest;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.itest.testkit.EndpointContract;
import java.util.Objects;

/// The contract of end points for the provider that the command was told. JUnit makes the object, so what it is about
/// comes through [#select]; one run at a time.
final class SelectedEndpointContract extends EndpointContract {
    private static volatile EndpointProvider selected;

    private final EndpointProvider provider = Objects.requireNonNull(selected, "nothing is selected");

    static void select(EndpointProvider next) {
        selected = next;
    }

    @Override
    protected EndpointProvider provider() {
        return provider;
    }
}
