package dev.tenon.backend.nv.tegra;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.util.List;
import java.util.function.Supplier;

/// The backend of Jetson Orins. It finds a board and says what it is, but cannot run models yet:
/// the planning of launches is not connected. It is therefore no service, and no part of the
/// distribution.
public final class NvTegraBackend implements Backend {
    /// The backend's id.
    static final String ID = "nv-tegra";

    private static final String NOT_YET =
            "models cannot be run on it by this backend yet: the planning of launches is not connected";

    private final Supplier<Syscalls> calls;

    /// Creates the backend for this machine; nothing is looked for yet.
    public NvTegraBackend() {
        this(LinuxSyscalls::new);
    }

    /// @param calls how to reach the drivers
    public NvTegraBackend(Supplier<Syscalls> calls) {
        this.calls = calls;
    }

    @Override
    public String id() {
        return ID;
    }

    @Override
    public int rank() {
        return 290;
    }

    @Override
    public Probe probe() {
        try {
            GpuTraits traits = TegraGpu.describe(calls.get());
            return new Probe(
                    false,
                    traits.name() + ", sm_" + traits.sm() + ", " + traits.multiprocessors() + " multiprocessors; "
                            + NOT_YET,
                    List.of());
        } catch (BackendException e) {
            return new Probe(false, e.getMessage(), List.of());
        }
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of();
    }

    @Override
    public Device open(DeviceOptions options) {
        throw new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE, "Backend " + ID + " is not available: " + probe().reason() + ".");
    }
}
