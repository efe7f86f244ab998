package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Updates of a running server's bundles leave nothing behind in the framework: neither the bundles that went, nor
/// their revisions, wirings and class loaders.
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ManyUpdatesIT {
    private static final String FELIX = "org.apache.felix.framework.";
    private static final List<String> KINDS = List.of(
            FELIX + "BundleImpl",
            FELIX + "BundleRevisionImpl",
            FELIX + "BundleWiringImpl",
            FELIX + "BundleWiringImpl$BundleClassLoader",
            FELIX + "cache.BundleArchive",
            "dev.tenon.platform.launcher.trust.SignedJar",
            "dev.tenon.platform.server.TenonServer");

    @TempDir
    Path folder;

    @Test
    void twentyOfABundleThatNoModelUsesLeaveNothing() throws Exception {
        update(Map.of("models-olmo", 20));
    }

    /// Long because of its number: a thousand of the small one, and of each kind what a model or a command uses.
    @Test
    @Tag("long")
    void aThousandLeaveNothing() throws Exception {
        update(Map.of(
                "models-olmo", 1000,
                "models-qwen3", 20,
                "quant-formats", 20,
                "kernels-x86", 8,
                "backend-cpu-vector", 10,
                "platform-templates", 20,
                "platform-tools", 20,
                "platform-server", 10));
    }

    private void update(Map<String, Integer> updates) throws Exception {
        Installation installation = Installation.copy(folder);
        try (RunningServer server = new RunningServer(installation, Duration.ofMinutes(25), "-c", "512")) {
            ControlChannel control = ControlChannel.of(installation, server.process);
            for (String piece : updates.keySet()) {
                replace(control, piece, "1.0.0"); // the first of each kind leaves its jar in deploy/
            }
            Map<String, Long> before = counts(server);
            assertTrue(before.get(FELIX + "BundleImpl") > 0, before::toString);
            for (Map.Entry<String, Integer> entry : updates.entrySet()) {
                for (int i = 1; i <= entry.getValue(); i++) {
                    replace(control, entry.getKey(), "1.0." + i);
                }
            }
            // A server that was replaced ends its connections first.
            Osgi.await("nothing is left of what was replaced", () -> {
                Map<String, Long> now = counts(server);
                return now.equals(before) || still(before, now);
            });
            assertEquals(0, server.terminate(), server::errors);
        }
    }

    private static boolean still(Map<String, Long> before, Map<String, Long> now) {
        System.out.println("Objects before " + before + ", now " + now);
        return false;
    }

    private void replace(ControlChannel control, String piece, String version) throws Exception {
        Path jar = folder.resolve(piece + ".jar");
        Jars.patched(Jars.ours(piece), jar, Map.of("Bundle-Version", version));
        JsonNode answer = control.ask("install", jar.toString());
        assertTrue(answer.path("ok").asBoolean(), answer::toString);
        assertTrue(answer.path("text").asText().contains(" " + version), answer::toString);
        Files.delete(jar);
    }

    /// {@return how many objects of each kind there are after a collection}
    private static Map<String, Long> counts(RunningServer server) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        for (String line : server.histogram().lines().toList()) {
            String[] fields = line.strip().split("\\s+");
            if (fields.length >= 4 && KINDS.contains(fields[3])) {
                counts.merge(fields[3], Long.parseLong(fields[1]), Long::sum);
            }
        }
        return counts;
    }
}
