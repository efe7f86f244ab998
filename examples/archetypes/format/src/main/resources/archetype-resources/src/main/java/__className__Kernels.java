package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import java.util.List;
import org.osgi.service.component.annotations.Component;

/// Offers the format's kernel to the backends. Without it, ${id} runs through its decoder: right, but slower.
@Component(service = KernelProvider.class)
@ServiceProvider(value = KernelProvider.class, resolution = Resolution.OPTIONAL)
public final class ${className}Kernels implements KernelProvider {
    /// Loaded where the Vector API is there, because the kernel cannot be loaded without it.
    private static final class Vector {
        static final List<Kernel> KERNELS = List.of(new ${className}Kernel());
    }

    /// Creates the provider; it has no state.
    public ${className}Kernels() {}

    @Override
    public List<Kernel> kernels() {
        try {
            Class.forName("jdk.incubator.vector.Vector", false, getClass().getClassLoader());
        } catch (ClassNotFoundException e) {
            return List.of();
        }
        return Vector.KERNELS;
    }
}
