package dev.tenon.platform.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.osgi.framework.Bundle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Loads classes of bundles a little before the main thread needs them, on a processor that would
/// idle.
///
/// The list of classes comes from the recording of a start-up cache (see [StartCache]): the first
/// line of its list is the recorded command, and only that command gets its classes ahead; the
/// others are `JAR CLASS`, the name of a bundle's jar, in the order in which they were loaded. No
/// class is initialized, so no code of a bundle runs earlier than it would.
final class ClassesAhead {
    /// The list's name in the folder of the start script's cache.
    private static final String LIST = "classes";

    private ClassesAhead() {}

    /// Starts loading if the process was started with a cache that has a list for this command.
    ///
    /// @param command the first argument of the process, or an empty text
    /// @param system resolved bundles of the platform itself
    /// @param others the other resolved bundles
    static void begin(String command, List<Bundle> system, List<Bundle> others) {
        if (StartCache.isUsed() && !command.isEmpty()) {
            Path list = Path.of(System.getProperty("tenon.cache"), LIST);
            List<Bundle> bundles = new ArrayList<>(system);
            bundles.addAll(others);
            Thread.ofPlatform().daemon().name("tenon-classes").start(() -> load(list, command, bundles));
        }
    }

    static void load(Path list, String command, List<Bundle> bundles) {
        List<String> lines;
        try {
            lines = Files.readAllLines(list);
        } catch (IOException e) {
            log().debug("No classes are loaded ahead", e);
            return;
        }
        if (lines.isEmpty() || !lines.getFirst().equals(command)) {
            return;
        }
        Map<String, Bundle> byJar = new HashMap<>();
        for (Bundle bundle : bundles) {
            String location = bundle.getLocation();
            byJar.put(location.substring(location.lastIndexOf('/') + 1), bundle);
        }
        for (String line : lines) {
            int blank = line.lastIndexOf(' ');
            Bundle bundle = blank < 0 ? null : byJar.get(line.substring(0, blank));
            if (bundle == null) {
                continue;
            }
            try {
                // Asking for constructors links the class, which verifies it.
                bundle.loadClass(line.substring(blank + 1)).getDeclaredConstructors();
            } catch (ClassNotFoundException | LinkageError e) {
                // The code that needs the class loads it again and reports the error then.
                log().debug("{} was not loaded ahead", line, e);
            } catch (RuntimeException e) {
                // An IllegalStateException, or what the framework runs into while it takes the
                // bundle away.
                log().debug("The framework stopped before all classes were loaded ahead", e);
                return;
            }
        }
    }

    private static Logger log() {
        return LoggerFactory.getLogger(ClassesAhead.class);
    }
}
