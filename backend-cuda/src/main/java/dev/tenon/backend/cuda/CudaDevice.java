package dev.tenon.backend.cuda;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import java.util.Map;

/// A GPU: its context, memory, kernels and compiler. Safe for any thread.
final class CudaDevice implements Device {
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

    @Override
    public void close() {
        kernels.close();
        context.close();
    }
}
