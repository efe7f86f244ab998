package dev.tenon.backend.nv.tegra;

import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.Undo;
import dev.tenon.kernels.nvidia.DeviceTraits;
import java.util.Map;
import java.util.function.Function;

/// An open board: its GPU, memory, kernels and compiler. Safe for any thread.
final class TegraDevice implements Device {
    /// Shared memory that a block can be given: 100 KiB are known to work, of which the hardware
    /// keeps 1 KiB and kernels up to 4 KiB of their own.
    private static final int SHARED_BYTES = 95 * 1024;

    private final DeviceInfo info;
    private final Undo undo = new Undo();
    private final TegraAllocator allocator;
    private final GpuDevice gpu;
    private final KernelCode code;
    private final TegraCompiler compiler;
    private boolean closed;

    /// Opens a board.
    ///
    /// @param info what it is
    /// @param board the board; closed with the device, and if this throws
    /// @param settings choices, see [TegraOptions] and [KernelCode]
    TegraDevice(DeviceInfo info, Board board, Map<String, String> settings) {
        this(info, board, settings, options -> TegraGpu.open(board.calls(), options), SHARED_BYTES);
    }

    /// Opens a GPU behind some driver.
    ///
    /// @param info what it is
    /// @param board what it is on; closed with the device, and if this throws
    /// @param settings choices, see [TegraOptions] and [KernelCode]
    /// @param opener opens the GPU
    /// @param sharedBytes shared memory that a block can be given
    TegraDevice(
            DeviceInfo info,
            Board board,
            Map<String, String> settings,
            Function<TegraOptions, GpuInterface> opener,
            int sharedBytes) {
        this.info = info;
        undo.add(board::close);
        boolean done = false;
        try {
            TegraOptions options = TegraOptions.of(settings);
            GpuInterface driver = opener.apply(options);
            undo.add(driver::close);
            allocator = new TegraAllocator(driver);
            gpu = new GpuDevice(driver, options.timeoutMillis());
            undo.add(gpu::close);
            int sm = driver.traits().sm();
            DeviceTraits traits =
                    new DeviceTraits(sm / 10, sm % 10, driver.traits().multiprocessors(), sharedBytes);
            code = new KernelCode(board, gpu, traits.architecture(), settings);
            undo.add(code::close);
            compiler = new TegraCompiler(this, traits, settings);
            done = true;
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        } finally {
            if (!done) {
                undo.close();
            }
        }
    }

    /// {@return its channels}
    GpuDevice gpu() {
        return gpu;
    }

    /// {@return its kernels}
    KernelCode code() {
        return code;
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public TegraAllocator allocator() {
        return allocator;
    }

    @Override
    public Compiler compiler() {
        return compiler;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            undo.close();
        }
    }
}
