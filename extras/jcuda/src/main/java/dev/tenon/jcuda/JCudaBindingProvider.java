package dev.tenon.jcuda;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaBindingProvider;
import org.osgi.service.component.annotations.Component;

/// Offers JCuda's binding of the CUDA driver: `cuda.binding=jcuda`.
@Component(service = CudaBindingProvider.class, property = "binding.name=" + JCudaBindingProvider.NAME)
@ServiceProvider(value = CudaBindingProvider.class, resolution = Resolution.OPTIONAL)
public final class JCudaBindingProvider implements CudaBindingProvider {
    /// What `cuda.binding` calls it.
    static final String NAME = "jcuda";

    /// Creates the provider; nothing is loaded yet.
    public JCudaBindingProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public CudaBinding open(CudaBinding fallback) {
        try {
            return JCudaBinding.load(fallback);
        } catch (LinkageError e) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "JCuda cannot be loaded: " + Natives.reason("JCudaDriver", e)
                            + ". It needs Linux on x86-64 and NVIDIA's driver; or take cuda.binding=ffm",
                    0,
                    e);
        }
    }
}
