package dev.tenon.backend.cuda;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A GPU: its context, memory, kernels and compiler. Safe for any thread.
final class CudaDevice implements Device {
    private static final Logger LOG = LoggerFactory.getLogger(CudaDevice.class);

    private final CudaDevices.Found found;
    private final CudaContext context;
    private final CudaAllocator allocator;
    private final KernelLoader kernels;
    private final CudaCompiler compiler;

    /// Opens a device.
    ///
    /// @param found which one
    /// @param settings how kernels are made; see [KernelLoader]
    CudaDevice(CudaDevices.Found found, Map<String, String> settings) {
        this.found = found;
        this.context = new CudaContext(found.ordinal());
        this.allocator = new CudaAllocator(context, found.info().memoryBytes());
        this.kernels = new KernelLoader(context, found.traits(), settings);
        this.compiler = new CudaCompiler(context, allocator, kernels, found.traits(), settings);
    }

    @Override
    public DeviceInfo info() {
        return found.info();
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
            LOG.warn(
                    "device {} is closed before {} of its plans; they end with it",
                    found.info().id(),
                    all.size());
        }
        all.add(kernels);
        all.add(context);
        Closing.all(all);
    }
}
