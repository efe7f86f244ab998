package dev.tenon.backend.cuda;

import aQute.bnd.annotation.Cardinality;
import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceConsumer;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.ffm.DriverLibrary;
import dev.tenon.backend.cuda.ffm.FfmBinding;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.CudaBindingProvider;
import dev.tenon.kernels.nvidia.plan.PlanSettings;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferencePolicyOption;

/// The CUDA backend: available where NVIDIA's driver is and finds a device of compute capability
/// 8.0 or newer.
@Component(service = Backend.class, property = "backend.id=cuda")
@ServiceProvider(value = Backend.class, resolution = Resolution.OPTIONAL)
@ServiceConsumer(
        value = CudaBindingProvider.class,
        cardinality = Cardinality.MULTIPLE,
        resolution = Resolution.OPTIONAL,
        effective = "active")
public final class CudaBackend implements Backend {
    /// The backend's id.
    static final String ID = "cuda";
    /// The kind of its devices.
    static final String KIND = "cuda";

    private final Bindings bindings;

    /// Creates the backend with the bindings of the driver that bundles on the class or module path offer; nothing is
    /// looked for yet.
    public CudaBackend() {
        this(ServiceLoader.load(CudaBindingProvider.class, CudaBackend.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .toList());
    }

    /// Creates the backend in a framework, which makes it again when a binding comes or goes, so that models move.
    ///
    /// @param bindings bindings of the driver that other bundles offer
    @Activate
    public CudaBackend(
            @Reference(service = CudaBindingProvider.class, policyOption = ReferencePolicyOption.GREEDY)
                    List<CudaBindingProvider> bindings) {
        this.bindings = new Bindings(bindings);
    }

    @Override
    public String id() {
        return ID;
    }

    @Override
    public List<Setting> settings() {
        return CudaSettings.ALL;
    }

    @Override
    public List<Knob> knobs() {
        return PlanSettings.KNOBS;
    }

    /// Above the CPU backend.
    @Override
    public int rank() {
        return 300;
    }

    @Override
    public Probe probe() {
        String missing = DriverLibrary.missing();
        if (missing != null) {
            return new Probe(false, missing + ". Install NVIDIA's driver to use it.", List.of());
        }
        List<CudaDevices.Found> devices = CudaDevices.list();
        List<CudaDevices.Found> usable = usable(devices);
        if (usable.isEmpty()) {
            return new Probe(
                    false,
                    devices.isEmpty()
                            ? "the CUDA driver finds no device"
                                    + (hidden().isEmpty() ? "; see nvidia-smi -L." : ": look at " + hidden() + ".")
                            : "no device is new enough: " + names(devices)
                                    + "; compute capability 8.0 (Ampere) or newer is needed.",
                    List.of());
        }
        return new Probe(true, names(usable) + "; bindings: " + String.join(", ", bindings.names()), List.of());
    }

    /// {@return the setting of the driver's environment that hides devices, or nothing}
    private static String hidden() {
        String visible = System.getenv("CUDA_VISIBLE_DEVICES");
        return visible == null ? "" : "CUDA_VISIBLE_DEVICES='" + visible + "'";
    }

    private static String names(List<CudaDevices.Found> devices) {
        return devices.stream()
                .map(d -> d.info().name() + " (compute capability " + d.traits().major() + "."
                        + d.traits().minor() + ")")
                .collect(Collectors.joining(", "));
    }

    private static List<CudaDevices.Found> usable(List<CudaDevices.Found> devices) {
        return devices.stream()
                .filter(d -> d.traits().capability() >= DeviceTraits.OLDEST)
                .toList();
    }

    @Override
    public List<DeviceInfo> devices() {
        return DriverLibrary.missing() != null
                ? List.of()
                : usable(CudaDevices.list()).stream()
                        .map(CudaDevices.Found::info)
                        .toList();
    }

    @Override
    public Device open(DeviceOptions options) {
        Probe probe = probe();
        if (!probe.available()) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE, "backend " + ID + " is not available: " + probe.reason());
        }
        List<CudaDevices.Found> all = CudaDevices.list();
        CudaDevices.Found device = (options.deviceId().isEmpty() ? usable(all) : all)
                .stream()
                        .filter(d -> options.deviceId().isEmpty() || d.isCalled(options.deviceId()))
                        .findFirst()
                        .orElseThrow(() -> unavailable("has no device '" + options.deviceId() + "'", all));
        if (usable(List.of(device)).isEmpty()) {
            throw unavailable(
                    "cannot use device '" + options.deviceId() + "', " + names(List.of(device))
                            + ": compute capability 8.0 (Ampere) or newer is needed",
                    all);
        }
        CudaBinding binding = bindings.open(options.settings().getOrDefault(CudaSettings.BINDING, FfmBinding.NAME));
        return new CudaDevice(device, binding, options.settings());
    }

    private static BackendException unavailable(String what, List<CudaDevices.Found> all) {
        String usable = usable(all).stream()
                .map(d -> d.info().id() + " (" + d.uuid() + ")")
                .collect(Collectors.joining(", "));
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                "backend " + ID + " " + what + "; it has " + usable + ". Give one of these indexes or UUIDs (--device)"
                        + (hidden().isEmpty() ? "." : "; " + hidden() + " hides others from this process."));
    }
}
