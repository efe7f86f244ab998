package org.example.ex5;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import java.util.List;
import org.osgi.service.component.annotations.Component;

/// Offers the format's kernel to the backends. Without it, EX5 would run through its decoder:
/// right, but slower.
@Component(service = KernelProvider.class)
@ServiceProvider(value = KernelProvider.class, resolution = Resolution.OPTIONAL)
public final class Ex5Kernels implements KernelProvider {
    private static final List<Kernel> KERNELS = List.of(new Ex5RowKernel());

    /// Creates the provider; it has no state.
    public Ex5Kernels() {}

    @Override
    public List<Kernel> kernels() {
        return KERNELS;
    }
}
