package dev.tenon.platform.core.tuned;

import dev.tenon.platform.core.control.Origins;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.osgi.framework.Bundle;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.namespace.PackageNamespace;
import org.osgi.framework.wiring.BundleWire;
import org.osgi.framework.wiring.BundleWiring;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A digest of the code that computes: of the jars of some services and of those that they use.
///
/// A jar counts by the check sums of its entries, so that it is not read. In a framework, bundles that a bundle is
/// wired to count; elsewhere the jars of Tenon on the class path and the module path.
public final class CodeDigest {
    private static final Logger LOG = LoggerFactory.getLogger(CodeDigest.class);

    private CodeDigest() {}

    /// {@return the digest, as hexadecimal digits}
    ///
    /// @param services backend and kernel providers
    public static String of(Collection<?> services) {
        Set<String> parts = new TreeSet<>();
        for (Object service : services) {
            Bundle bundle = bundle(service.getClass());
            if (bundle == null) {
                parts.add(part(location(service.getClass()), Origins.of(service)));
                ofPaths(parts);
            } else {
                wired(bundle)
                        .forEach(each -> parts.add(
                                part(file(each.getLocation()), each.getSymbolicName() + " " + each.getLastModified())));
            }
        }
        return TunedIdentity.digest(List.copyOf(parts));
    }

    private static Bundle bundle(Class<?> type) {
        try {
            return FrameworkUtil.getBundle(type);
        } catch (NoClassDefFoundError e) {
            return null; // no framework on this class path
        }
    }

    /// A bundle and all that it is wired to, but for the framework.
    private static Set<Bundle> wired(Bundle bundle) {
        Set<Bundle> found = new TreeSet<>(List.of(bundle));
        Deque<Bundle> open = new ArrayDeque<>(found);
        while (!open.isEmpty()) {
            BundleWiring wiring = open.remove().adapt(BundleWiring.class);
            List<BundleWire> wires =
                    wiring == null ? List.of() : wiring.getRequiredWires(PackageNamespace.PACKAGE_NAMESPACE);
            for (BundleWire wire : wires) {
                Bundle provider = wire.getProvider().getBundle();
                boolean late = PackageNamespace.RESOLUTION_DYNAMIC.equals(
                        wire.getRequirement().getDirectives().get(PackageNamespace.REQUIREMENT_RESOLUTION_DIRECTIVE));
                if (!late && provider.getBundleId() != 0 && found.add(provider)) {
                    open.add(provider);
                }
            }
        }
        return found;
    }

    private static void ofPaths(Set<String> parts) {
        for (String property : List.of("java.class.path", "jdk.module.path")) {
            for (String entry : System.getProperty(property, "").split(File.pathSeparator)) {
                Path path = Path.of(entry);
                if (path.getFileName() != null && path.getFileName().toString().startsWith("tenon-")) {
                    parts.add(part(path, entry));
                }
            }
        }
    }

    private static Path location(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        URL url = source == null ? null : source.getLocation();
        return url == null ? null : file(url.toString());
    }

    private static Path file(String location) {
        try {
            URI uri = URI.create(location.replaceFirst("^reference:", ""));
            return "file".equals(uri.getScheme()) ? Path.of(uri) : null;
        } catch (IllegalArgumentException e) {
            LOG.debug("{} is no file", location, e);
            return null;
        }
    }

    /// What stands for a jar or a folder of classes: the check sums of its entries; for anything else its name.
    private static String part(Path file, String name) {
        try {
            if (file != null && Files.isRegularFile(file)) {
                return entries(file);
            }
            if (file != null && Files.isDirectory(file)) {
                return times(file);
            }
        } catch (IOException e) {
            LOG.debug("{} cannot be read", file, e);
        }
        return name;
    }

    private static String entries(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile(), false)) {
            return TunedIdentity.digest(jar.stream()
                    .filter(entry -> !entry.isDirectory() && !entry.getName().startsWith("META-INF/maven/"))
                    .map(entry -> entry.getName() + " " + entry.getCrc() + " " + entry.getSize())
                    .sorted()
                    .toList());
        }
    }

    private static String times(Path folder) throws IOException {
        List<String> all = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                all.add(folder.relativize(file) + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
            }
        }
        return TunedIdentity.digest(all);
    }
}
