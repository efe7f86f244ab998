package dev.tenon.platform.cli.main;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.boot.Answers;
import dev.tenon.platform.boot.EntryPoint;
import dev.tenon.platform.cli.RunningCommand;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.terminal.CliErrors;
import dev.tenon.platform.cli.terminal.Streams;
import dev.tenon.platform.core.control.ModelRegistries;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceListener;
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
@Component(
        service = {EntryPoint.class, RunningCommand.class},
        configurationPid = "dev.tenon.platform.cli")
public final class CliMain implements EntryPoint, RunningCommand {
    private static final long COMMAND_NANOS = TimeUnit.SECONDS.toNanos(2);
    /// Models come from the command before: what takes longer hangs.
    private static final Duration TAKE_OVER = Duration.ofMinutes(2);

    private final BundleContext context;
    private final Map<String, Object> config;
    private final SynchronousBundleListener end = this::changed;
    private final Runs runs = new Runs();
    private volatile boolean ending;
    /// What runs; null before.
    private volatile Streams streams;
    private volatile ClassLoader loader;
    private volatile String[] arguments;

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
        loader = Thread.currentThread().getContextClassLoader();
        streams = Streams.ofProcess();
        arguments = args.clone();
        Runs.Run first = runs.first();
        first.ended(execute(first, sources(), args));
        try {
            return runs.awaitEnd();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the command was interrupted", e);
        }
    }

    private int execute(Runs.Run run, List<CommandSource> sources, String... args) {
        String version = context.getBundle().getVersion().toString();
        ServiceReference<Answers> reference = context.getServiceReference(Answers.class);
        Answers answers = reference == null ? null : context.getService(reference);
        return new Cli(
                        sources,
                        streams,
                        this::setting,
                        this::registries,
                        version,
                        () -> ending || jvmEnds(),
                        run,
                        answers == null ? (status, out) -> {} : answers)
                .execute(args);
    }

    /// The engine's; it is created if no command has it yet, and stays until the end.
    private ModelRegistries registries() {
        ServiceReference<Engine> reference = context.getServiceReference(Engine.class);
        return ModelRegistries.of(reference == null ? null : context.getService(reference));
    }

    @Override
    public void replace(long old, long next) {
        String[] args = arguments;
        String name = args == null ? "" : Cli.name(args).orElse("");
        if (!runs.canBeSucceeded() || commandOf(old, name).isEmpty()) {
            return;
        }
        try {
            CommandSource source = awaitCommand(next, name);
            Runs.Run run = runs.next();
            Thread thread = Thread.ofPlatform()
                    .name("tenon-command-next")
                    .inheritInheritableThreadLocals(false)
                    .unstarted(() -> {
                        int status = CliErrors.FAILED;
                        try {
                            status = execute(run, List.of(source), args);
                        } finally {
                            run.ended(status);
                        }
                    });
            thread.setContextClassLoader(loader); // not that of a bundle which may go
            thread.start();
            try {
                run.awaitWork(TAKE_OVER);
            } catch (IllegalStateException | InterruptedException e) {
                thread.interrupt();
                throw e;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the start of '" + name + "' was interrupted", e);
        }
    }

    private Optional<CommandSource> commandOf(long bundle, String name) {
        return references()
                .filter(reference -> reference.getBundle().getBundleId() == bundle)
                .<CommandSource>map(reference -> new ServiceSource(reference, context))
                .filter(source -> source.name().equals(name))
                .findFirst();
    }

    /// Waits for a command of a bundle that has started: the component runtime takes a moment.
    private CommandSource awaitCommand(long bundle, String name) throws InterruptedException {
        Semaphore registered = new Semaphore(0);
        ServiceListener listener = event -> registered.release();
        context.addServiceListener(listener);
        try {
            long end = System.nanoTime() + COMMAND_NANOS;
            Optional<CommandSource> found = commandOf(bundle, name);
            while (found.isEmpty() && registered.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                registered.drainPermits();
                found = commandOf(bundle, name);
            }
            return found.orElseThrow(() -> new IllegalStateException("it offers no command '" + name + "'"));
        } finally {
            context.removeServiceListener(listener);
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
        return references()
                .<CommandSource>map(reference -> new ServiceSource(reference, context))
                .toList();
    }

    private Stream<ServiceReference<TenonCommand>> references() {
        try {
            return context.getServiceReferences(TenonCommand.class, "(" + TenonCommand.NAME + "=*)").stream()
                    .filter(reference -> isRunning(reference.getBundle()))
                    .sorted(Comparator.reverseOrder());
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException("the filter is a constant and must be valid", e);
        }
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
            if (!isRunning(reference.getBundle())) {
                return; // its bundle is being stopped, which releases it
            }
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
