package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.backend.cpu.vector.memory.CpuAllocator;
import dev.tenon.backend.cpu.vector.plan.CpuCompiler;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;

/// The machine's processors: a team of threads, host memory and a compiler. Safe for any thread.
public final class CpuDevice implements Device {
    private final DeviceInfo info;
    private final CpuAllocator allocator;
    private final CpuThreads threads;
    private final CpuCompiler compiler;

    /// Starts the team of threads.
    ///
    /// @param info what it is
    /// @param threadCount threads, the caller of a step included
    /// @param kernels which kernels to use
    public CpuDevice(DeviceInfo info, int threadCount, KernelSet kernels) {
        this(info, new CpuThreads(threadCount), kernels);
    }

    /// Takes over a team of threads.
    ///
    /// @param info what it is
    /// @param threads the team; closed with the device
    /// @param kernels which kernels to use
    public CpuDevice(DeviceInfo info, CpuThreads threads, KernelSet kernels) {
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
