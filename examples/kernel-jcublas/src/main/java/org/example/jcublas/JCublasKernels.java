package org.example.jcublas;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import java.util.List;
import org.osgi.service.component.annotations.Component;

/// Offers the product to the CUDA backend.
@Component(service = KernelProvider.class)
@ServiceProvider(value = KernelProvider.class, resolution = Resolution.OPTIONAL)
public final class JCublasKernels implements KernelProvider {
    private static final List<Kernel> KERNELS = List.of(new JCublasMatmul());

    /// Creates the provider; nothing is loaded yet.
    public JCublasKernels() {}

    @Override
    public List<Kernel> kernels() {
        return KERNELS;
    }
}
