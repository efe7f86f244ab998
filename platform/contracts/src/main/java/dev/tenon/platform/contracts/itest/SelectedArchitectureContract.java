package dev.tenon.platform.contracts.itest;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Weights;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.itest.testkit.ArchitectureContract;
import dev.tenon.itest.testkit.GoldenLogits;
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
    /// @param backends those that compute golden logits
    /// @param kernels the bundle's own
    record Selection(
            ModelArchitecture architecture, TinyModel model, List<Backend> backends, List<KernelProvider> kernels) {}

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

    /// The architecture alone says what its keys mean.
    @Override
    protected ModelConfig expectedConfig() {
        return null;
    }

    @Override
    protected List<GoldenLogits> golden() {
        return selection.model().golden();
    }

    @Override
    protected Weights weights() {
        return selection.model().weights().orElseGet(super::weights);
    }

    @Override
    protected List<Backend> backends() {
        return selection.backends();
    }

    @Override
    protected List<KernelProvider> kernels() {
        return selection.kernels();
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
