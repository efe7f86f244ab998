package dev.tenon.platform.contracts.itest;

import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.KernelContract;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/// The kernel contract for the provider that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedKernelContract extends KernelContract {
    /// What to test.
    ///
    /// @param provider offers the kernels
    /// @param formats all that are installed
    record Selection(KernelProvider provider, List<QuantFormat> formats) {}

    private static volatile Selection selected;

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected KernelProvider provider() {
        return selection.provider();
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return selection.formats();
    }
}
