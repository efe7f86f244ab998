package dev.tenon.platform.contracts.itest;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendBatchContract;
import dev.tenon.platform.contracts.compare.Tolerances;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/// Numbers and batches of the backend contract on an installed backend, with the formats and kernels of a
/// handed bundle. JUnit makes the object, so what it is about comes through [#select]; one run at a time.
final class SelectedNumbersContract extends BackendBatchContract {
    /// What to test.
    ///
    /// @param backend an installed backend
    /// @param formats the bundle's formats, and those that its kernels read
    /// @param kernels the bundle's kernels
    /// @param large whether sizes of real models are tested, too
    record Selection(Backend backend, List<QuantFormat> formats, List<KernelProvider> kernels, boolean large) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected Backend backend() {
        return selection.backend();
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return selection.formats();
    }

    @Override
    protected Collection<KernelProvider> kernels() {
        return selection.kernels();
    }

    @Override
    protected boolean large() {
        return selection.large();
    }

    @Override
    protected Set<PlanOptions.KvType> kvTypes() {
        return Tolerances.kvTypes(device());
    }

    private boolean packed(QuantFormat format) {
        for (KernelProvider provider : selection.kernels()) {
            if (provider.kernels(format).stream().anyMatch(LinearKernel.class::isInstance)) {
                return true;
            }
        }
        return false;
    }

    @Override
    protected double tolerance(String what, int n) {
        return Tolerances.of(device().info().kind()).exact(n);
    }

    @Override
    protected double tolerance(String what, QuantFormat format, int n) {
        Tolerances tolerances = packed(format)
                ? new Tolerances(true)
                : Tolerances.of(device().info().kind());
        return tolerances.of(what, format, n);
    }
}
