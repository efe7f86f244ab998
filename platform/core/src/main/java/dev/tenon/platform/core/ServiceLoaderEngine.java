package dev.tenon.platform.core;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.check.SelfCheck;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.core.engine.TenonEngine;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The engine of [StandaloneEngine#create]. Each bundle that is installed has a number, as a framework gives
/// it, by which the registry holds, offers and replaces its providers.
final class ServiceLoaderEngine extends TenonEngine implements StandaloneEngine {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceLoaderEngine.class);

    private final ServiceRegistry registry;
    /// Guarded by this, as is every change.
    private final Set<Installed> bundles = new HashSet<>();

    private long lastNumber;
    private boolean closed;

    ServiceLoaderEngine(ServiceRegistry registry, EngineConfig config) {
        super(registry, config);
        this.registry = registry;
    }

    @Override
    public InstalledBundle install(Path... jars) {
        return install(null, jars);
    }

    @Override
    public synchronized InstalledBundle installProviders(Object... providers) {
        requireOpen();
        String name = Stream.of(providers)
                .map(provider -> provider.getClass().getSimpleName())
                .collect(Collectors.joining(", "));
        try {
            return enter(new Installed(name, List.of(providers), null, ++lastNumber), null);
        } catch (RuntimeException | Error e) {
            tell(BundleChange.Kind.REFUSED, name, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    private synchronized Installed install(Installed old, Path... jars) {
        requireOpen();
        if (old != null && !bundles.contains(old)) {
            throw new TenonException(ErrorCode.CLOSED, old.name + " was removed; install the jar instead");
        }
        String name = Stream.of(jars).map(jar -> jar.getFileName().toString()).collect(Collectors.joining(", "));
        URLClassLoader loader = new URLClassLoader(
                "bundle " + name,
                Arrays.stream(jars).map(ServiceLoaderEngine::url).toArray(URL[]::new),
                StandaloneEngine.class.getClassLoader());
        try {
            List<Object> providers = new ArrayList<>();
            new Providers(type -> type.getClassLoader() == loader, e -> {
                        throw refusal(name, "a provider does not load: " + e, e);
                    })
                    .find(loader)
                    .all()
                    .forEach(providers::add);
            if (providers.isEmpty()) {
                throw refusal(name, "it offers nothing: no class in META-INF/services is a provider of the api", null);
            }
            return enter(new Installed(name, List.copyOf(providers), loader, ++lastNumber), old);
        } catch (RuntimeException | Error e) {
            close(loader);
            tell(BundleChange.Kind.REFUSED, name, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new TenonException(ErrorCode.CLOSED, "The engine was closed; create another one");
        }
    }

    private static URL url(Path jar) {
        try {
            new JarFile(jar.toFile()).close();
            return jar.toUri().toURL();
        } catch (IOException e) {
            throw new TenonException(ErrorCode.BUNDLE_FILE, jar + " is no jar that can be read: " + e.getMessage(), e);
        }
    }

    /// Tries the providers while the registry holds them, and offers them.
    private Installed enter(Installed next, Installed old) {
        registry.hold(next.number);
        try {
            next.providers.forEach(provider -> registry.add(provider, next.number));
            check(next, old);
            if (old == null) {
                registry.release(next.number);
            } else {
                replace(Set.of(old.number), Set.of(next.number), old.name + " was replaced by " + next.name, false);
            }
        } catch (RuntimeException | Error e) {
            withdraw(next);
            throw e;
        }
        bundles.add(next);
        if (old == null) {
            tell(BundleChange.Kind.INSTALLED, next.name, next.name + " was installed");
        } else {
            leave(old);
            tell(BundleChange.Kind.UPDATED, next.name, old.name + " was replaced by " + next.name);
        }
        return next;
    }

    private void check(Installed next, Installed old) {
        Set<Long> leaving = old == null ? Set.of() : Set.of(old.number);
        for (ServiceRegistry.Refused refused : registry.refused(Set.of(next.number), leaving)) {
            throw new TenonException(
                    ErrorCode.DUPLICATE_ID,
                    next.name + " was not installed: " + refused.what()
                            + registry.offered(refused.setting())
                                    .map(holder -> " is offered by "
                                            + holder.getClass().getName() + " from "
                                            + Origins.of(holder) + " already; the setting prefer." + refused.setting()
                                            + " can name the one to use")
                                    .orElse(""));
        }
        SelfCheck check = new SelfCheck(registry);
        long before = old == null ? -1 : old.number;
        List<String> wrong = new ArrayList<>(check.check(next.number, before));
        wrong.addAll(check.changedFormats(next.number, before));
        if (!wrong.isEmpty()) {
            throw refusal(next.name, String.join("; ", wrong), null);
        }
    }

    private static TenonException refusal(String name, String why, Throwable cause) {
        return new TenonException(ErrorCode.BUNDLE_REJECTED, name + " was not installed: " + why, cause);
    }

    private void tell(BundleChange.Kind kind, String name, String text) {
        tell(new BundleChange(kind, name, "", "", text));
    }

    private synchronized boolean leave(Installed bundle) {
        boolean leaves = bundles.remove(bundle);
        if (leaves) {
            registry.hold(bundle.number);
            withdraw(bundle);
            close(bundle.loader);
        }
        return leaves;
    }

    /// Ends the use of what the registry holds of a bundle.
    private void withdraw(Installed bundle) {
        registry.servicesOf(bundle.number).forEach(registry::remove);
        registry.release(bundle.number);
    }

    private static void close(URLClassLoader loader) {
        try {
            if (loader != null) {
                loader.close();
            }
        } catch (IOException e) {
            LOG.warn("The jars of {} stay open: {}", loader.getName(), e.toString());
        }
    }

    @Override
    public void close() {
        super.close();
        synchronized (this) {
            closed = true;
            List.copyOf(bundles).forEach(this::leave);
        }
    }

    /// A bundle; `loader` is null for providers that the program made.
    private final class Installed implements InstalledBundle {
        private final String name;
        private final List<Object> providers;
        private final URLClassLoader loader;
        private final long number;

        Installed(String name, List<Object> providers, URLClassLoader loader, long number) {
            this.name = name;
            this.providers = providers;
            this.loader = loader;
            this.number = number;
        }

        @Override
        public List<Object> providers() {
            return providers;
        }

        @Override
        public InstalledBundle replace(Path... jars) {
            return install(this, jars);
        }

        @Override
        public void remove() {
            if (leave(this)) {
                tell(BundleChange.Kind.REMOVED, name, name + " was removed");
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
