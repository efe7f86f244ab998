package dev.tenon.backend.nv.tegra.emulator.board;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.backend.nv.tegra.TegraGpu;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.code.Arguments;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import dev.tenon.backend.nv.tegra.command.Geometry;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuMemory;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.backend.nv.tegra.gpu.LoadedModule;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.gpu.Timeline;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// An emulated Orin with a device on it and the test kernels loaded. Closing it checks that nothing
/// is left.
public final class Orin implements AutoCloseable {
    public final EmulatedBoard board;
    final TegraGpu gpu;
    public final GpuDevice device;
    final LoadedModule module;
    private final List<GpuMemory> buffers = new ArrayList<>();

    public Orin() {
        this(EmulatorOptions.orin(), 1024, Timeline.MAX_VALUE, GpuDevice.COMMAND_BYTES, GpuDevice.LAUNCH_BYTES);
    }

    public Orin(EmulatorOptions options) {
        this(options, 1024, Timeline.MAX_VALUE, GpuDevice.COMMAND_BYTES, GpuDevice.LAUNCH_BYTES);
    }

    public Orin(EmulatorOptions options, int ring, long lastValue, long commandBytes, long launchBytes) {
        board = new EmulatedBoard(options, TestKernels.library());
        gpu = TegraGpu.open(board, new TegraOptions(AddressLayout.BELOW_WINDOWS, ring, true));
        // Long enough for a loaded machine where a thread does the work, short where a failure is wanted.
        device = new GpuDevice(gpu, options.threaded() ? 600_000 : 100, lastValue, commandBytes, launchBytes);
        module = device.load(TestKernels.cubin());
    }

    public GpuMemory buffer(long bytes) {
        GpuMemory memory = gpu.allocate(bytes, MemoryKind.DATA, "test");
        buffers.add(memory);
        return memory;
    }

    public LoadedKernel kernel(String name) {
        return module.kernel(name);
    }

    public Arguments arguments(String kernel) {
        return new Arguments(kernel(kernel).kernel());
    }

    long addOne(GpuMemory counter) {
        return device.launch(
                kernel("add_one"), Geometry.of(1, 1), 0, arguments("add_one").set(0, counter.va()));
    }

    long squares(GpuMemory out, int n, int threads) {
        return device.launch(
                kernel("square_plus_one"),
                Geometry.of((n + threads - 1) / threads, threads),
                0,
                arguments("square_plus_one").set(0, out.va()).set(1, n));
    }

    static int first(GpuMemory memory) {
        return memory.host().get(ValueLayout.JAVA_INT, 0);
    }

    /// Gives everything back without asking whether the GPU has failed.
    void release() {
        buffers.forEach(GpuMemory::close);
        module.close();
        device.close();
        gpu.close();
        assertEquals(List.of(), board.open());
        board.close();
    }

    @Override
    public void close() {
        release();
        assertEquals(List.of(), board.dmesg());
    }
}
