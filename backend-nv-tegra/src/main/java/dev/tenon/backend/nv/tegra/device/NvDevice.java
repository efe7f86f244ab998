package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuInterface;
import dev.tenon.backend.nv.tegra.gpu.GpuWait;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.Undo;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.compile.PtxCompiler;
import dev.tenon.kernels.nvidia.plan.PlanSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// An open device: its GPU, memory, kernels and compiler. Safe for any thread.
public final class NvDevice implements Device {
    /// The settings that hold behind every driver.
    public static final List<Setting> SETTINGS =
            Stream.concat(PlanSettings.ALL.stream(), Stream.of(GpuWait.SETTING)).toList();

    private final DeviceInfo info;
    private final Undo undo = new Undo();
    private final NvAllocator allocator;
    private final GpuDevice gpu;
    private final KernelCode code;
    private final NvCompiler compiler;
    private boolean closed;

    /// Opens a GPU behind some driver.
    ///
    /// @param info what it is
    /// @param board what it is on; closed with the device, and if this throws
    /// @param settings choices, see [KernelCode] and [GpuWait]
    /// @param ptxCompiler compiles the kernels' PTX where there is no NVRTC
    /// @param opener opens the GPU
    /// @param sharedBytes shared memory that a block can be given, without what kernels declare themselves
    /// @throws TenonException (`CONFIG`) if a setting is not understood
    public NvDevice(
            DeviceInfo info,
            Board board,
            Map<String, String> settings,
            Optional<PtxCompiler> ptxCompiler,
            Supplier<? extends GpuInterface> opener,
            int sharedBytes) {
        this.info = info;
        undo.add(board::close);
        boolean done = false;
        try {
            long timeoutMillis = GpuWait.timeoutMillis(settings);
            GpuInterface driver = opener.get();
            undo.add(driver::close);
            allocator = new NvAllocator(driver);
            gpu = new GpuDevice(driver, timeoutMillis);
            undo.add(gpu::close);
            int sm = driver.traits().sm();
            DeviceTraits traits =
                    new DeviceTraits(sm / 10, sm % 10, driver.traits().multiprocessors(), sharedBytes);
            code = new KernelCode(board, gpu, traits.architecture(), settings, ptxCompiler);
            undo.add(code::close);
            compiler = new NvCompiler(this, traits, settings);
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
    public NvAllocator allocator() {
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
