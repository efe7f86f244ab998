package dev.tenon.platform.contracts.itest;

import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// The architecture contract for the architecture that the command was told. JUnit makes the object, so
/// what it is about comes through [#select]; one run at a time.
final class SelectedArchitectureContract extends ArchitectureContract {
    /// What to test.
    ///
    /// @param architecture the architecture
    /// @param model its tiny model
    record Selection(ModelArchitecture architecture, TinyModel model) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected ModelArchitecture architecture() {
        return selection.architecture();
    }

    @Override
    protected Map<String, GgufValue> metadata() {
        return selection.model().metadata();
    }

    @Override
    protected Map<String, List<Long>> tensors() {
        return selection.model().tensors();
    }

    @Override
    protected ModelConfig expectedConfig() {
        return selection.model().config(architecture());
    }

    @Override
    protected Set<String> requiredKeys() {
        return selection.model().requiredKeys(architecture());
    }

    @Override
    protected boolean mayBeTied() {
        return selection.model().mayBeTied(architecture());
    }

    /// Nobody has said how many ops a layer should fuse into.
    @Override
    protected boolean fusesIntoFiveOpsALayer() {
        return false;
    }
}
