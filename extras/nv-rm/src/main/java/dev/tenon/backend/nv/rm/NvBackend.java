package dev.tenon.backend.nv.rm;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.device.NvDevice;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Component;

/// A server's Hopper GPU on the same core as an Orin, through NVIDIA's kernel driver without its
/// CUDA driver. An experiment: it is there when it is named and [#SWITCH] is on.
@Component(service = Backend.class, property = "backend.id=nv")
@ServiceProvider(value = Backend.class, resolution = Resolution.OPTIONAL)
public final class NvBackend implements Backend {
    /// The backend's id.
    static final String ID = "nv";
    /// Setting: `on`, or nothing is opened.
    static final String SWITCH = "nv.rm";

    private static final List<Setting> SETTINGS = Stream.concat(
                    NvDevice.SETTINGS.stream(),
                    Stream.of(Setting.flag(SWITCH, false, "Permits the experiment behind NVIDIA's resource manager.")))
            .toList();
    private static final String OWN = "0";
    /// 227 KiB, without the one that the hardware keeps and the kernels' own.
    private static final int SHARED_BYTES = 223 * 1024;

    private final Supplier<Syscalls> calls;
    private final Path root;

    /// Creates the backend for this machine; nothing is looked for yet.
    public NvBackend() {
        this(LinuxSyscalls::new, Path.of("/"));
    }

    /// @param calls how to reach the drivers
    /// @param root where the machine's files begin
    NvBackend(Supplier<Syscalls> calls, Path root) {
        this.calls = calls;
        this.root = root;
    }

    @Override
    public String id() {
        return ID;
    }

    @Override
    public List<Setting> settings() {
        return SETTINGS;
    }

    /// Whoever wants it names it.
    @Override
    public int rank() {
        return -1;
    }

    @Override
    public Probe probe() {
        return present()
                ? new Probe(
                        true,
                        "NVIDIA's kernel driver is there; an experiment, on with --set " + SWITCH + "=on",
                        List.of())
                : new Probe(false, "there is no /dev/nvidiactl or no /dev/nvidia-uvm", List.of());
    }

    private boolean present() {
        return Files.exists(root.resolve("dev/nvidiactl")) && Files.exists(root.resolve("dev/nvidia-uvm"));
    }

    /// The first GPU, without looking what it is: that would need a client of the driver.
    @Override
    public List<DeviceInfo> devices() {
        return present() ? List.of(new DeviceInfo(OWN, "GPU of NVIDIA's kernel driver", ID, 0, Map.of())) : List.of();
    }

    @Override
    public Device open(DeviceOptions options) {
        List<DeviceInfo> devices = devices();
        if (devices.isEmpty()) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE, "Backend " + ID + " is not available: " + probe().reason());
        }
        if (!options.settings().getOrDefault(SWITCH, "off").equals("on")) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend " + ID + " is an experiment and off. Use the CUDA backend, or --set " + SWITCH + "=on.");
        }
        if (!options.deviceId().isEmpty() && !options.deviceId().equals(OWN)) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend " + ID + " has no device '" + options.deviceId() + "'; it has " + OWN);
        }
        Syscalls system = calls.get();
        return new NvDevice(
                devices.getFirst(),
                Board.of(system),
                options.settings(),
                Optional.empty(),
                () -> RmGpu.open(system),
                SHARED_BYTES);
    }
}
