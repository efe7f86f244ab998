package dev.tenon.api.engine;

import dev.tenon.api.device.Backend;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/// Loads models and runs them. One engine a process is usual; safe for any thread.
@ProviderType
public interface Engine extends AutoCloseable {
    /// Loads a model: maps the file, finds architecture, formats and backend, compiles. The caller
    /// closes it.
    ///
    /// @param request which file, and how to place it
    /// @return the model, ready to generate
    /// @throws dev.tenon.api.error.ModelFormatException if the file is broken
    /// @throws dev.tenon.api.error.UnsupportedModelException if no installed bundle can run it; all
    ///     reasons at once
    /// @throws dev.tenon.api.error.BackendException if the backend that was asked for is not
    ///     available
    /// @throws dev.tenon.api.error.OutOfResourcesException if memory does not suffice
    LoadedModel load(LoadRequest request);

    /// {@return the models that are loaded now}
    List<LoadedModel> models();

    /// {@return the backends that are installed now, best rank first}
    List<Backend> backends();

    /// {@return the architectures that are installed now}
    List<ModelArchitecture> architectures();

    /// {@return the weight formats that are installed now}
    List<QuantFormat> formats();

    /// {@return the kernel providers that are installed now}
    List<KernelProvider> kernelProviders();

    /// Closes all models and devices. Calling it twice does nothing.
    @Override
    void close();
}
