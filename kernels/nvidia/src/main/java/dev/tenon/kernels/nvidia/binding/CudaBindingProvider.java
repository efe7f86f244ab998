package dev.tenon.kernels.nvidia.binding;

import org.osgi.annotation.versioning.ConsumerType;

/// Offers another binding of the CUDA driver: a service. The setting `cuda.binding` selects it by its name. Safe for
/// any thread.
@ConsumerType
public interface CudaBindingProvider {
    /// {@return the value of `cuda.binding` that selects it, such as `jcuda`}
    String name();

    /// Opens the binding. The driver has been found and initialised.
    ///
    /// @param fallback the backend's own binding of the same driver, for calls that this one lacks; handles of the
    ///     two are the same
    /// @return the binding; it stays open until the process ends
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-001`) if it cannot be loaded here, with the reason
    CudaBinding open(CudaBinding fallback);
}
