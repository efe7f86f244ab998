package dev.tenon.platform.launcher;

import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.launcher.home.CacheFolder;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.trust.Trust;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.slf4j.LoggerFactory;

/// Installs the jars of `bundles/` and its folders when the platform starts. What cannot be installed or
/// is not trusted is reported and left out; of several versions of a bundle the highest is installed.
final class JarInstaller {
    private final Home home;
    private final BundleContext context;
    private final Trust trust;
    private final CacheFolder cache;
    private final NotedProblems problems;
    private final Map<String, Bundle> byName = new HashMap<>();
    private final Map<Bundle, String> files = new HashMap<>();
    private final List<Bundle> outdated = new ArrayList<>();

    JarInstaller(Home home, BundleContext context, Trust trust, CacheFolder cache, NotedProblems problems) {
        this.home = home;
        this.context = context;
        this.trust = trust;
        this.cache = cache;
        this.problems = problems;
    }

    /// Installs jars; what is found later may uninstall what was found before, see [#outdated()].
    ///
    /// @param jars the jars
    /// @return the bundles
    List<Bundle> install(List<Path> jars) {
        List<Bundle> installed = new ArrayList<>(jars.size());
        for (Path jar : jars) {
            Main.requireRunning();
            String file = home.root().relativize(jar).toString();
            try {
                Bundle bundle = context.installBundle(location(checked(jar)));
                try {
                    check(bundle);
                    makeOnly(bundle, file);
                } catch (BundleException e) {
                    bundle.uninstall();
                    throw e;
                }
                installed.add(bundle);
            } catch (BundleException | RuntimeException e) {
                report(file, e);
            }
        }
        return installed;
    }

    /// {@return the bundles that were uninstalled because a higher version was found}
    List<Bundle> outdated() {
        return outdated;
    }

    private void report(String file, Exception why) {
        LoggerFactory.getLogger(Platform.class).warn(problems.notInstalled(file, why));
        LoggerFactory.getLogger(Platform.class).debug("Stack trace", why);
    }

    private static void check(Bundle bundle) throws BundleException {
        String name = bundle.getSymbolicName();
        if (name == null) {
            throw new BundleException("it is not an OSGi bundle: its manifest has no Bundle-SymbolicName");
        }
        String foreign = BundleTrust.foreignExport(name, bundle.getHeaders("").get(Constants.EXPORT_PACKAGE));
        if (foreign != null) {
            throw new BundleException("it exports " + foreign + ", which is not its own [BUNDLE-002]");
        }
    }

    private void makeOnly(Bundle bundle, String file) throws BundleException {
        Bundle other = byName.get(bundle.getSymbolicName());
        if (other != null && other.getVersion().compareTo(bundle.getVersion()) >= 0) {
            throw outdated(files.get(other), other);
        }
        byName.put(bundle.getSymbolicName(), bundle);
        files.put(bundle, file);
        if (other != null) {
            other.uninstall();
            outdated.add(other);
            report(files.get(other), outdated(file, bundle));
        }
    }

    private static BundleException outdated(String file, Bundle bundle) {
        return new BundleException(file + " holds " + NotedProblems.name(bundle) + ", which is not older");
    }

    /// The file to install a jar from. If the policy requires a check, it is a copy that only this
    /// process can change, so that what runs is what was checked.
    ///
    /// @throws BundleException if the policy does not trust it
    private Path checked(Path jar) throws BundleException {
        if (!Files.isRegularFile(jar)) {
            throw new BundleException("it is no file"); // reading a pipe might never end
        }
        if (!trust.strict()) {
            return jar;
        }
        try {
            Path copies = Files.createDirectories(cache.path().resolve("checked"));
            Path copy = Files.copy(jar, copies.resolve(jar.getParent().getFileName() + "-" + jar.getFileName()));
            BundleTrust.Verdict verdict = trust.admit(location(copy), copy);
            if (!verdict.allows()) {
                throw new BundleException("it is not trusted: " + verdict.refusal() + " [BUNDLE-005]");
            }
            return copy;
        } catch (IOException e) {
            throw new BundleException("it cannot be copied: " + e.getMessage(), e);
        }
    }

    private static String location(Path jar) {
        // '+' is a plain character in a file's URI, but the framework decodes it to a space.
        return "reference:" + jar.toUri().toString().replace("+", "%2B");
    }
}
