package dev.tenon.platform.cli.main;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.boot.EntryPoint;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.terminal.Streams;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
        return new Cli(sources(), Streams.ofProcess(), this::setting, version, () -> ending || jvmEnds()).execute(args);
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

    private List<CommandSource> sources() {
        List<CommandSource> sources = new ArrayList<>();
        try {
            Collection<ServiceReference<TenonCommand>> found =
                    context.getServiceReferences(TenonCommand.class, "(" + TenonCommand.NAME + "=*)");
            found.stream()
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
