package ${package};

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// The `${id}` backend: tells whether its hardware is there, and opens it.
@Component(service = Backend.class, property = "backend.id=" + ${className}.ID)
@ServiceProvider(value = Backend.class, resolution = Resolution.OPTIONAL)
public final class ${className} implements Backend {
    static final String ID = "${id}";

    /// The kind of device: kernels of other bundles name it. `cpu` would promise to take Java row kernels.
    private static final DeviceInfo DEVICE =
            new DeviceInfo("0", "plain Java", "${id}", Runtime.getRuntime().maxMemory(), Map.of());

    /// Creates the backend; hardware is looked for in [#probe()].
    public ${className}() {}

    @Override
    public String id() {
        return ID;
    }

    /// {@return a rank below all others: raise it above 100, the CPU backend's, when this is the faster one}
    @Override
    public int rank() {
        return -1;
    }

    @Override
    public Probe probe() {
        return new Probe(true, "plain Java, on any machine", List.of());
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(DEVICE);
    }

    @Override
    public Device open(DeviceOptions options) {
        if (!options.deviceId().isEmpty() && !options.deviceId().equals(DEVICE.id())) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "Backend " + ID + " has no device " + options.deviceId() + "; it has device " + DEVICE.id());
        }
        return new PlainDevice(DEVICE);
    }
}
