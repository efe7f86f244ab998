package org.example.tracing;

import aQute.bnd.annotation.Cardinality;
import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceConsumer;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;

/// Runs everything on another backend and writes down each step: kind, tokens, microseconds.
///
/// The other one is any other installed backend; to name it, set `traced.target =
/// (backend.id=cpu-vector)` in `etc/org.example.tracing.cfg`. When its bundle goes, this backend
/// goes with it, and comes back with it. Without a framework, it is the available one that
/// `ServiceLoader` finds with the highest rank.
///
/// The file is `file` in the same configuration, the system property `org.example.tracing.file`, or
/// `tenon-trace.csv` in the working directory. Lines are added to what is there.
@Component(
        service = Backend.class,
        configurationPid = "org.example.tracing",
        property = "backend.id=" + TracingBackend.ID)
@ServiceProvider(value = Backend.class, resolution = Resolution.OPTIONAL)
@ServiceConsumer(value = Backend.class, resolution = Resolution.OPTIONAL, cardinality = Cardinality.MULTIPLE)
public final class TracingBackend implements Backend {
    /// The backend's id, for `--backend`.
    static final String ID = "tracing";

    /// What `etc/org.example.tracing.cfg` may hold.
    @interface Settings {
        /// {@return the file to write; empty for the system property or the default}
        String file() default "";
    }

    private final Supplier<Optional<Backend>> traced;
    private final Path file;

    /// Made by `ServiceLoader`. Looks for the other backend when it is needed, not now: that would
    /// come back here.
    public TracingBackend() {
        this(TracingBackend::best, fileOr(""));
    }

    /// Made by declarative services.
    ///
    /// @param traced the other backend
    /// @param settings from the configuration
    @Activate
    public TracingBackend(
            @Reference(name = "traced", target = "(!(backend.id=" + ID + "))") Backend traced, Settings settings) {
        this(() -> Optional.of(traced), fileOr(settings.file()));
    }

    /// Wraps a backend.
    ///
    /// @param traced finds the other backend
    /// @param file the file to write
    TracingBackend(Supplier<Optional<Backend>> traced, Path file) {
        this.traced = traced;
        this.file = file;
    }

    private static Path fileOr(String configured) {
        return Path.of(
                configured.isBlank() ? System.getProperty("org.example.tracing.file", "tenon-trace.csv") : configured);
    }

    private static Optional<Backend> best() {
        return ServiceLoader.load(Backend.class).stream()
                .filter(provider -> provider.type() != TracingBackend.class)
                .map(ServiceLoader.Provider::get)
                .filter(backend -> backend.probe().available())
                .max(Comparator.comparingInt(Backend::rank));
    }

    @Override
    public String id() {
        return ID;
    }

    /// {@return a rank below all others: one is traced only when one asks for it}
    @Override
    public int rank() {
        return -1;
    }

    @Override
    public Probe probe() {
        Optional<Backend> other = traced.get();
        if (other.isEmpty()) {
            return new Probe(false, "there is no other backend to trace; install one", List.of());
        }
        Probe probe = other.get().probe();
        return new Probe(
                probe.available(),
                "traces " + other.get().id() + " into " + file + ": " + probe.reason(),
                probe.issues());
    }

    @Override
    public List<DeviceInfo> devices() {
        return traced.get().map(Backend::devices).orElse(List.of());
    }

    @Override
    public Device open(DeviceOptions options) {
        Backend other = traced.get()
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        "backend " + ID + " has no other backend to trace; install one"));
        return new TracingDevice(other.open(options), new TraceFile(file));
    }
}
