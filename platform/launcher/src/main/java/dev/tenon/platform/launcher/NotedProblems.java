package dev.tenon.platform.launcher;

import dev.tenon.platform.boot.BundleProblems;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.startlevel.BundleStartLevel;
import org.osgi.framework.wiring.BundleRevision;

/// What is wrong with the bundles of this run, one readable line each.
///
/// A service, so that commands can show it. Safe for use by several threads.
final class NotedProblems implements BundleProblems {
    private final BundleContext context;
    private final Map<String, String> notInstalled = new ConcurrentSkipListMap<>();
    private final Map<Long, String> notStarted = new ConcurrentSkipListMap<>();

    NotedProblems(BundleContext context) {
        this.context = context;
    }

    /// Notes that a file was not installed, and returns the line.
    String notInstalled(String file, Throwable why) {
        String line = file + " was not installed: " + reason(why);
        notInstalled.put(file, line);
        return line;
    }

    /// Notes that a bundle did not start, and returns the line.
    String notStarted(Bundle bundle, Throwable why) {
        String line = name(bundle) + " did not start: " + reason(why);
        notStarted.put(bundle.getBundleId(), line);
        return line;
    }

    /// {@return a line for each file that was not installed and each bundle that does not run now;
    ///     a bundle that does not resolve is tried again first, so that the reason is current}
    @Override
    public List<String> lines() {
        List<String> lines = new ArrayList<>(notInstalled.values());
        for (Bundle bundle : context.getBundles()) {
            line(bundle).ifPresent(lines::add);
        }
        return lines;
    }

    private Optional<String> line(Bundle bundle) {
        String known = notStarted.get(bundle.getBundleId());
        boolean resolved = bundle.getState() == Bundle.RESOLVED;
        if (resolved && known != null) {
            return Optional.of(known);
        }
        try {
            if ((resolved || bundle.getState() == Bundle.INSTALLED) && wanted(bundle)) {
                bundle.start(Bundle.START_ACTIVATION_POLICY);
                notStarted.remove(bundle.getBundleId());
            }
        } catch (BundleException | RuntimeException e) {
            if (bundle.getState() != Bundle.UNINSTALLED) { // somebody may take it away meanwhile
                return Optional.of(notStarted(bundle, e));
            }
        }
        return Optional.empty();
    }

    private static boolean wanted(Bundle bundle) {
        return !isFragment(bundle) && bundle.adapt(BundleStartLevel.class).isPersistentlyStarted();
    }

    static boolean isFragment(Bundle bundle) {
        BundleRevision revision = bundle.adapt(BundleRevision.class);
        return revision != null && (revision.getTypes() & BundleRevision.TYPE_FRAGMENT) != 0;
    }

    static String name(Bundle bundle) {
        String name = bundle.getSymbolicName();
        return (name == null ? bundle.getLocation() : name) + " " + bundle.getVersion();
    }

    /// Describes a framework's exception in one line: the innermost message.
    static String reason(Throwable why) {
        Throwable cause = why;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String text = cause.getMessage() == null ? cause.getClass().getName() : cause.getMessage();
        if (!(cause instanceof BundleException) && cause.getMessage() != null) {
            text = cause.getClass().getSimpleName() + ": " + text;
        }
        return text.replaceAll("\\s+", " ").strip();
    }
}
