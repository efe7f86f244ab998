package dev.tenon.itest.framework;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkEvent;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/// A running OSGi framework inside the test's JVM, with the component runtime and ConfigAdmin started.
final class Osgi implements AutoCloseable {
    /// The frameworks that the bundles have to run in.
    enum Kind {
        FELIX,
        EQUINOX
    }

    /// What the launcher's class path offers to bundles.
    private static final String LAUNCHER = "org.slf4j;version=2.0.18,org.slf4j.event;version=2.0.18,"
            + "org.slf4j.helpers;version=2.0.18,org.slf4j.spi;version=2.0.18," + exports("platform-boot");

    private static final long STOP_MILLIS = TimeUnit.MINUTES.toMillis(5);

    private final Kind kind;
    private final URLClassLoader loader;
    private final Framework framework;
    private final boolean sharedApi;

    /// Starts a framework.
    ///
    /// @param kind which one
    /// @param cache an empty folder
    /// @param sharedApi whether bundles get the api from the test's class path, so that tests can
    ///     call services by their types; else the api bundle is installed like any other
    Osgi(Kind kind, Path cache, boolean sharedApi) throws BundleException {
        this.kind = kind;
        this.sharedApi = sharedApi;
        Path jar = Jars.framework(kind.name().toLowerCase(java.util.Locale.ROOT));
        loader = new URLClassLoader(new URL[] {url(jar)}, Osgi.class.getClassLoader());
        FrameworkFactory factory =
                ServiceLoader.load(FrameworkFactory.class, loader).findFirst().orElseThrow();
        Map<String, String> settings = new HashMap<>();
        settings.put(Constants.FRAMEWORK_STORAGE, cache.toString());
        settings.put(Constants.FRAMEWORK_STORAGE_CLEAN, Constants.FRAMEWORK_STORAGE_CLEAN_ONFIRSTINIT);
        settings.put(Constants.FRAMEWORK_BSNVERSION, Constants.FRAMEWORK_BSNVERSION_MULTIPLE);
        settings.put("felix.service.urlhandlers", "false");
        settings.put(Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA, sharedApi ? LAUNCHER + "," + exports("api") : LAUNCHER);
        framework = factory.newFramework(settings);
        framework.init();
        framework.start();
        start(Jars.systemBundles());
    }

    private static URL url(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }

    private static String exports(String name) {
        return Jars.attributes(Jars.ours(name)).getValue("Export-Package").replaceAll(";uses:=\"[^\"]*\"", "");
    }

    /// Installs all of our bundles and what they need, and starts them.
    List<Bundle> startEverything() throws BundleException {
        List<Path> jars = new ArrayList<>(Jars.thirdPartyBundles());
        Jars.ours().stream()
                .filter(jar -> !sharedApi || !jar.equals(Jars.ours("api")))
                .forEach(jars::add);
        return start(jars);
    }

    /// Installs bundles, then starts them.
    List<Bundle> start(Collection<Path> jars) throws BundleException {
        List<Bundle> bundles = new ArrayList<>();
        for (Path jar : jars) {
            bundles.add(install(jar));
        }
        for (Bundle bundle : bundles) {
            if (bundle.getHeaders().get(Constants.FRAGMENT_HOST) == null) {
                bundle.start();
            }
        }
        return bundles;
    }

    Bundle install(Path jar) throws BundleException {
        return framework.getBundleContext().installBundle(jar.toUri().toString());
    }

    /// Has a listener hear of every bundle at the moment that it is resolved, before any of its code runs.
    void onResolved(Consumer<Bundle> listener) {
        framework.getBundleContext().addBundleListener((SynchronousBundleListener) event -> {
            if (event.getType() == BundleEvent.RESOLVED) {
                listener.accept(event.getBundle());
            }
        });
    }

    Bundle bundle(String symbolicName) {
        return Arrays.stream(framework.getBundleContext().getBundles())
                .filter(b -> b.getSymbolicName().equals(symbolicName))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no bundle " + symbolicName));
    }

    List<Bundle> bundles() {
        return List.of(framework.getBundleContext().getBundles());
    }

    /// {@return the values of a property over all services of a type}
    Set<String> properties(String type, String property) {
        Set<String> values = new TreeSet<>();
        for (ServiceReference<?> reference : references(type, "(" + property + "=*)")) {
            values.add(String.valueOf(reference.getProperty(property)));
        }
        return values;
    }

    /// {@return the services of a type, whatever bundle's copy of the type they implement}
    List<ServiceReference<?>> references(String type, String filter) {
        try {
            ServiceReference<?>[] all = framework.getBundleContext().getAllServiceReferences(type, filter);
            return all == null ? List.of() : List.of(all);
        } catch (InvalidSyntaxException e) {
            throw new AssertionError(filter, e);
        }
    }

    /// {@return a service of a type of the shared api}
    <T> T service(Class<T> type) {
        return type.cast(service(type.getName(), null));
    }

    /// Registers a service of a type of the shared api.
    <T> void register(Class<T> type, T service) {
        framework.getBundleContext().registerService(type, service, null);
    }

    /// {@return a service of a type by name, to be called by reflection}
    Object service(String type, String filter) {
        List<ServiceReference<?>> found = references(type, filter);
        if (found.isEmpty()) {
            throw new AssertionError("no service " + type + " " + filter);
        }
        return framework.getBundleContext().getService(found.getFirst());
    }

    /// Waits until a condition holds, at most five minutes.
    static void await(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("did not happen within five minutes: " + what);
            }
            Thread.sleep(20);
        }
    }

    static String state(Bundle bundle) {
        return switch (bundle.getState()) {
            case Bundle.UNINSTALLED -> "UNINSTALLED";
            case Bundle.INSTALLED -> "INSTALLED";
            case Bundle.RESOLVED -> "RESOLVED";
            case Bundle.STARTING -> "STARTING";
            case Bundle.STOPPING -> "STOPPING";
            case Bundle.ACTIVE -> "ACTIVE";
            default -> "state " + bundle.getState();
        };
    }

    @Override
    public void close() {
        try {
            framework.stop();
            FrameworkEvent end = framework.waitForStop(STOP_MILLIS);
            if (end.getType() == FrameworkEvent.WAIT_TIMEDOUT) {
                throw new AssertionError("the framework does not stop within " + STOP_MILLIS + " ms");
            }
            // Equinox leaves its factory of URL handlers in the JVM, which loads more of its classes when it is asked.
            if (kind != Kind.EQUINOX) {
                loader.close();
            }
        } catch (BundleException | IOException e) {
            throw new AssertionError("the framework does not stop", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
