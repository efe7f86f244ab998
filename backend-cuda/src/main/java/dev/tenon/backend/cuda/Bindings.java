package dev.tenon.backend.cuda;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.ffm.FfmBinding;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaBindingProvider;
import java.util.List;
import java.util.stream.Stream;

/// The bindings of the driver that there are: the backend's own one, and those of other bundles.
///
/// @param others bindings of other bundles; unmodifiable
record Bindings(List<CudaBindingProvider> others) {
    Bindings {
        others = List.copyOf(others);
    }

    /// {@return their names, the backend's own first}
    List<String> names() {
        return Stream.concat(Stream.of(FfmBinding.NAME), others.stream().map(CudaBindingProvider::name))
                .distinct()
                .toList();
    }

    /// {@return the binding of a name}
    ///
    /// @param name value of `cuda.binding`
    /// @throws BackendException (`BACKEND-001`) if no bundle offers it, with what to install
    CudaBinding open(String name) {
        FfmBinding own = FfmBinding.get();
        if (name.equals(own.name())) {
            return own;
        }
        return others.stream()
                .filter(other -> other.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        CudaSettings.BINDING + " is '" + name + "', but no installed bundle offers it; there is "
                                + String.join(", ", names()) + ". Install it (tenon bundles install tenon-" + name
                                + "-VERSION.jar), or take " + CudaSettings.BINDING + "=" + own.name()))
                .open(own);
    }
}
