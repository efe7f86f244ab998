package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.itest.testkit.ModelRegistryContract;
import java.util.Map;
import java.util.Objects;

/// The contract of registries for the one that the command was told. JUnit makes the object, so what it is about comes
/// through [#select]; one run at a time.
final class SelectedRegistryContract extends ModelRegistryContract {
    /// What to test.
    ///
    /// @param registry the registry
    /// @param references references by id
    record Selection(ModelRegistry registry, Map<String, String> references) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected ModelRegistry registry() {
        return selection.registry();
    }

    @Override
    protected String reference() {
        String id = registry().id();
        String given = selection.references().get(id);
        return given != null ? given : abort("it needs a model: name one by --argument " + id + "=REFERENCE");
    }
}
