package dev.tenon.backend.cuda;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.backend.cuda.device.Closing;
import dev.tenon.backend.cuda.device.CudaAllocator;
import dev.tenon.backend.cuda.device.CudaContext;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A GPU: its context, memory, kernels and compiler. Safe for any thread.
final class CudaDevice implements Device, CudaHandles.Holder {
    private static final Logger LOG = LoggerFactory.getLogger(CudaDevice.class);

    private final DeviceInfo info;
    private final CudaContext context;
    private final CudaAllocator allocator;
    private final KernelLoader kernels;
    private final CudaCompiler compiler;

    /// Opens a device.
    ///
    /// @param found which one
    /// @param binding makes the driver's calls
    /// @param settings how kernels are made; see [KernelLoader]
    CudaDevice(CudaDevices.Found found, CudaBinding binding, Map<String, String> settings) {
        this.info = found.openedWith(binding);
        this.context = new CudaContext(binding, found.ordinal());
        this.allocator = new CudaAllocator(context, found.info().memoryBytes());
        this.kernels = new KernelLoader(context, found.traits(), settings);
        this.compiler = new CudaCompiler(context, allocator, kernels, found.traits(), settings);
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public CudaHandles handles() {
        return context;
    }

    @Override
    public Allocator allocator() {
        return allocator;
    }

    @Override
    public Compiler compiler() {
        return compiler;
    }

    /// Plans should be closed before; those that are not are closed here, because the driver would crash the
    /// process if they ran on without their kernels.
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(compiler.openPlans());
        if (!all.isEmpty()) {
            LOG.warn("device {} is closed before {} of its plans; they end with it", info.id(), all.size());
        }
        all.add(kernels);
        all.add(context);
        Closing.all(all);
    }
}
