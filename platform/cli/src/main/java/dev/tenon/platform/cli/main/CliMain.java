package dev.tenon.platform.cli.main;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.boot.EntryPoint;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.terminal.Streams;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceObjects;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;

/// The entry point that the launcher calls with the arguments of the process.
///
/// Commands are the services of type [TenonCommand] with the property [TenonCommand#NAME] at the
/// time of the call. Settings come from the environment, the configuration
/// `dev.tenon.platform.cli`, and framework or system properties.
@Component(service = EntryPoint.class, configurationPid = "dev.tenon.platform.cli")
public final class CliMain implements EntryPoint {
    private static final long SUCCESSOR_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final BundleContext context;
    private final Map<String, Object> config;
    private final SynchronousBundleListener end = this::changed;
    private volatile boolean ending;

    /// Creates the entry point.
    ///
    /// @param context where commands are looked up
    /// @param config the configuration `dev.tenon.platform.cli`
    @Activate
    public CliMain(BundleContext context, Map<String, Object> config) {
        this.context = context;
        this.config = Map.copyOf(config);
        context.addBundleListener(end);
    }

    @Deactivate
    void deactivate() {
        context.removeBundleListener(end);
    }

    /// When the framework stops while a command runs, for example because of a signal, the
    /// command's engine is closed before the bundles stop: a generation then ends at its next
    /// token, and no model is placed again.
    private void changed(BundleEvent event) {
        if (event.getType() != BundleEvent.STOPPING || event.getBundle().getBundleId() != Constants.SYSTEM_BUNDLE_ID) {
            return;
        }
        ending = true;
        ServiceReference<Engine> reference = context.getServiceReference(Engine.class);
        if (reference != null && reference.getUsingBundles() != null) {
            Engine engine = context.getService(reference);
            if (engine != null) {
                engine.close();
            }
        }
    }

    @Override
    public int run(String... args) {
        String version = context.getBundle().getVersion().toString();
        Legacy legacy = new Legacy();
        Streams streams = Streams.ofProcess();
        int status;
        do {
            status = new Cli(sources(), streams, this::setting, version, () -> ending || jvmEnds(), legacy)
                    .execute(args);
        } while (legacy.isLeft() && awaitSuccessor(Cli.name(args).orElseThrow()));
        legacy.take().forEach(thing -> close(thing, streams));
        return status;
    }

    /// Waits for a bundle that offers a command whose own one stops.
    ///
    /// @return whether there is one
    private boolean awaitSuccessor(String command) {
        long end = System.nanoTime() + SUCCESSOR_NANOS;
        while (!ending && System.nanoTime() < end) {
            if (sources().stream().anyMatch(source -> source.name().equals(command))) {
                return true;
            }
            if (Arrays.stream(context.getBundles()).anyMatch(bundle -> bundle.getState() == Bundle.STOPPING)) {
                end = System.nanoTime() + SUCCESSOR_NANOS;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return false;
    }

    private static void close(AutoCloseable left, Streams streams) {
        try {
            left.close();
        } catch (Exception e) {
            streams.err().println("tenon: " + left + " cannot be closed: " + e.getMessage());
            streams.err().flush();
        }
    }

    /// Whether the JVM runs its shutdown hooks, of which the one that stops the framework need not be the first.
    private static boolean jvmEnds() {
        Thread none = new Thread(() -> {});
        try {
            Runtime.getRuntime().addShutdownHook(none);
            Runtime.getRuntime().removeShutdownHook(none);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private String setting(String key) {
        String env = System.getenv("TENON_" + key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_"));
        if (env != null && !env.isBlank()) {
            return env;
        }
        Object configured = config.get(key);
        return configured != null ? configured.toString() : context.getProperty("tenon." + key);
    }

    /// Whether a bundle offers its commands still: not while it stops, or after.
    private static boolean isRunning(Bundle bundle) {
        return bundle != null && bundle.getState() != Bundle.STOPPING;
    }

    private List<CommandSource> sources() {
        List<CommandSource> sources = new ArrayList<>();
        try {
            Collection<ServiceReference<TenonCommand>> found =
                    context.getServiceReferences(TenonCommand.class, "(" + TenonCommand.NAME + "=*)");
            found.stream()
                    .filter(reference -> isRunning(reference.getBundle()))
                    .sorted(Comparator.reverseOrder())
                    .forEach(reference -> sources.add(new ServiceSource(reference, context)));
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException("the filter is a constant and must be valid", e);
        }
        return sources;
    }

    private record ServiceSource(ServiceReference<TenonCommand> reference, ServiceObjects<TenonCommand> objects)
            implements CommandSource {
        ServiceSource(ServiceReference<TenonCommand> reference, BundleContext context) {
            this(reference, context.getServiceObjects(reference));
        }

        @Override
        public String name() {
            return String.valueOf(reference.getProperty(TenonCommand.NAME));
        }

        @Override
        public String origin() {
            return reference.getBundle() == null
                    ? "an uninstalled bundle"
                    : reference.getBundle().toString();
        }

        @Override
        public TenonCommand create() {
            return objects == null ? null : objects.getService();
        }

        @Override
        public void release(TenonCommand command) {
            try {
                objects.ungetService(command);
            } catch (IllegalStateException e) {
                // The bundle was stopped while its command ran, which has released the service
                // already.
                assert reference.getBundle() == null : e;
            }
        }
    }
}
