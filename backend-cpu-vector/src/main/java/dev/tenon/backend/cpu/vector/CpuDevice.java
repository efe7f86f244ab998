package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;

/// The machine's processors: a team of threads, host memory and a compiler. Safe for any thread.
final class CpuDevice implements Device {
    private final DeviceInfo info;
    private final CpuAllocator allocator;
    private final CpuThreads threads;
    private final CpuCompiler compiler;

    /// Starts the team of threads.
    ///
    /// @param info what it is
    /// @param threadCount threads, the caller of a step included
    /// @param kernels which kernels to use
    CpuDevice(DeviceInfo info, int threadCount, KernelSet kernels) {
        this(info, new CpuThreads(threadCount), kernels);
    }

    /// Takes over a team of threads.
    ///
    /// @param info what it is
    /// @param threads the team; closed with the device
    /// @param kernels which kernels to use
    CpuDevice(DeviceInfo info, CpuThreads threads, KernelSet kernels) {
        this.info = info;
        this.allocator = new CpuAllocator(info.memoryBytes());
        this.threads = threads;
        this.compiler = new CpuCompiler(allocator, threads, kernels);
    }

    @Override
    public DeviceInfo info() {
        return info;
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
        threads.close();
    }
}
