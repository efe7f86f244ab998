package dev.tenon.platform.contracts.framework;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.resource.Namespace;
import org.osgi.resource.Requirement;

/// A jar given by the user, installed and started in addition to the platform's bundles.
public final class HandedBundle {
    private static final long SERVICES_MILLIS = 2000;

    private final Bundle bundle;

    private HandedBundle(Bundle bundle) {
        this.bundle = bundle;
    }

    /// Checks that a file is a bundle's jar.
    ///
    /// @param jar the file
    /// @throws TenonException (`BUNDLE-001`) if it is not, or is not there
    public static void check(Path jar) {
        if (!Files.isRegularFile(jar)) {
            throw new TenonException(ErrorCode.BUNDLE_FILE, "There is no file " + jar + ". Give the jar of a bundle");
        }
        try (JarFile file = new JarFile(jar.toFile())) {
            Manifest manifest = file.getManifest();
            if (manifest == null || manifest.getMainAttributes().getValue(Constants.BUNDLE_SYMBOLICNAME) == null) {
                throw new TenonException(
                        ErrorCode.BUNDLE_FILE,
                        jar
                                + " is not an OSGi bundle: its manifest has no Bundle-SymbolicName. Build it as"
                                + " a bundle, for"
                                + " example with the bnd Maven plug-in");
            }
            if (manifest.getMainAttributes().getValue(Constants.FRAGMENT_HOST) != null) {
                throw new TenonException(
                        ErrorCode.BUNDLE_FILE,
                        jar
                                + " is a fragment: it offers nothing of its own that a contract could be run"
                                + " for. Give the jar of a bundle");
            }
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FILE, jar + " cannot be read as a jar: " + e.getMessage() + ". Copy it again", e);
        }
    }

    /// Installs and starts a jar in the framework that runs this code, and waits for its services.
    ///
    /// @param jar the file
    /// @return the running bundle
    /// @throws TenonException (`BUNDLE-001`, `BUNDLE-002`) if it does not come to run
    public static HandedBundle start(Path jar) {
        check(jar);
        BundleContext context = FrameworkUtil.getBundle(HandedBundle.class).getBundleContext();
        Bundle bundle;
        try (InputStream in = Files.newInputStream(jar)) {
            bundle = context.installBundle("itest:" + jar, in);
        } catch (BundleException | IOException e) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FILE, jar + " was not installed: " + innermost(e) + ". Build it again", e);
        }
        try {
            bundle.start();
        } catch (BundleException | RuntimeException | LinkageError e) {
            List<String> missing = bundle.getState() == Bundle.INSTALLED ? missing(context, bundle) : List.of();
            throw new TenonException(
                    ErrorCode.BUNDLE_REJECTED,
                    title(bundle) + " did not start: "
                            + (missing.isEmpty() ? innermost(e) : "no bundle offers " + String.join(", nor ", missing)),
                    e);
        }
        HandedBundle handed = new HandedBundle(bundle);
        handed.awaitServices();
        return handed;
    }

    /// What the bundle needs and nothing offers, as the framework's filters say it.
    private static List<String> missing(BundleContext context, Bundle bundle) {
        FrameworkWiring wiring =
                context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).adapt(FrameworkWiring.class);
        BundleRevision revision = bundle.adapt(BundleRevision.class);
        List<String> missing = new ArrayList<>();
        for (Requirement requirement : revision.getRequirements(null)) {
            Map<String, String> directives = requirement.getDirectives();
            String resolution = directives.getOrDefault(Namespace.REQUIREMENT_RESOLUTION_DIRECTIVE, "");
            String effective = directives.getOrDefault(Namespace.REQUIREMENT_EFFECTIVE_DIRECTIVE, "resolve");
            if (resolution.isEmpty() || resolution.equals(Namespace.RESOLUTION_MANDATORY)) {
                if (effective.equals("resolve")
                        && wiring.findProviders(requirement).isEmpty()) {
                    missing.add(requirement.getNamespace() + " "
                            + directives.getOrDefault(Namespace.REQUIREMENT_FILTER_DIRECTIVE, ""));
                }
            }
        }
        return missing;
    }

    /// The component runtime may need a moment.
    private void awaitServices() {
        long deadline = System.nanoTime() + SERVICES_MILLIS * 1_000_000;
        while (bundle.getRegisteredServices() == null && System.nanoTime() < deadline) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /// {@return name and version}
    public String title() {
        return title(bundle);
    }

    private static String title(Bundle bundle) {
        return bundle.getSymbolicName() + " " + bundle.getVersion();
    }

    /// {@return the services of a type that the bundle offers, made now}
    ///
    /// @param type the type
    /// @throws TenonException (`BUNDLE-002`) if one cannot be made
    public <T> List<T> services(Class<T> type) {
        BundleContext context = FrameworkUtil.getBundle(HandedBundle.class).getBundleContext();
        List<T> services = new ArrayList<>();
        for (ServiceReference<?> reference : references()) {
            if (types(reference).contains(type.getName())) {
                Object service = context.getService(reference);
                if (!type.isInstance(service)) {
                    throw new TenonException(
                            ErrorCode.BUNDLE_REJECTED,
                            title() + " offers a " + type.getSimpleName()
                                    + " that cannot be created; the log has the reason. Look at its constructor"
                                    + " and what"
                                    + " it refers to");
                }
                services.add(type.cast(service));
            }
        }
        return services;
    }

    /// {@return a property of the services of a type that the bundle offers, in the order of [#services]}
    ///
    /// @param type the type
    /// @param property the property's name
    public List<Object> properties(Class<?> type, String property) {
        return references().stream()
                .filter(reference -> types(reference).contains(type.getName()))
                .map(reference -> reference.getProperty(property))
                .toList();
    }

    /// {@return a property of the services of a type that bundles of other names offer}
    ///
    /// @param type the type
    /// @param property the property's name
    public Set<Object> propertiesOfOthers(Class<?> type, String property) {
        BundleContext context = FrameworkUtil.getBundle(HandedBundle.class).getBundleContext();
        Set<Object> values = new HashSet<>();
        try {
            ServiceReference<?>[] all = context.getAllServiceReferences(type.getName(), null);
            for (ServiceReference<?> reference : all == null ? new ServiceReference<?>[0] : all) {
                Bundle other = reference.getBundle();
                boolean same = other == null || bundle.getSymbolicName().equals(other.getSymbolicName());
                if (!same && reference.getProperty(property) != null) {
                    values.add(reference.getProperty(property));
                }
            }
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e); // there is no filter
        }
        return values;
    }

    /// {@return the simple names of all types that the bundle offers, in alphabetical order}
    public List<String> offers() {
        TreeSet<String> names = new TreeSet<>();
        references()
                .forEach(reference -> types(reference).forEach(t -> names.add(t.substring(t.lastIndexOf('.') + 1))));
        return List.copyOf(names);
    }

    private List<ServiceReference<?>> references() {
        ServiceReference<?>[] references = bundle.getRegisteredServices();
        return references == null ? List.of() : Arrays.asList(references);
    }

    private static List<String> types(ServiceReference<?> reference) {
        return Arrays.asList((String[]) reference.getProperty(Constants.OBJECTCLASS));
    }

    private static String innermost(Throwable why) {
        Throwable cause = why;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String text = cause instanceof BundleException ? String.valueOf(cause.getMessage()) : cause.toString();
        return text.replaceAll("\\s+", " ").strip();
    }
}
