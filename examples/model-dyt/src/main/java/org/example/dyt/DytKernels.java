package org.example.dyt;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import java.util.List;
import org.osgi.service.component.annotations.Component;

/// Offers kernels for the op to the backends. Without them, the CPU backend would call its `evaluate`: right, but
/// slower; and GPUs would refuse the model.
@Component(service = KernelProvider.class)
@ServiceProvider(value = KernelProvider.class, resolution = Resolution.OPTIONAL)
public final class DytKernels implements KernelProvider {
    private static final List<Kernel> KERNELS = List.of(new DynamicTanhKernel(), new DynamicTanhCudaKernel());

    @Override
    public List<Kernel> kernels() {
        return KERNELS;
    }
}
