package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.itest.framework.Installation.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The policy of trust in the whole distribution: what is not listed does not run, however it got there.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class TrustIT {
    private static final String MODELS = "dev.tenon.models.qwen3";

    private static final String LIST = "etc/trusted-bundles.txt";

    /// An installation with the list of its bundles, which those of all tests get: they have the same bundles.
    @TempDir
    static Path listing;

    private static Path list;

    @TempDir
    Path folder;

    private Installation any;
    private Installation listed;

    @BeforeAll
    static void listWhatIsInstalled() throws Exception {
        Installation installation = Installation.copy(listing);
        Result trusted = installation.tenon("bundles", "trust", "--installed");
        assertEquals(0, trusted.code(), trusted::toString);
        assertTrue(trusted.out().contains(MODELS + " 0.1.0"), trusted::toString);
        list = installation.home().resolve(LIST);
    }

    @BeforeEach
    void install() throws IOException {
        any = Installation.copy(folder);
        Files.copy(list, any.home().resolve(LIST));
        listed = any.with("TENON_BUNDLES_TRUST", "listed");
    }

    private Path version(String version) throws IOException {
        return Manager.version(MODELS, version, folder);
    }

    private static JsonNode models(Result list) throws IOException {
        assertEquals(0, list.code(), list::toString);
        for (JsonNode bundle : new ObjectMapper().readTree(list.out())) {
            if (bundle.path("name").asText().equals(MODELS)) {
                return bundle;
            }
        }
        throw new AssertionError("no bundle " + MODELS + ": " + list);
    }

    @Test
    void aJarRunsOnceItIsListedAndNotBefore() throws Exception {
        String jar = version("0.5.0").toString();
        Result refused = listed.tenon("bundles", "install", jar);
        assertEquals(1, refused.code(), refused::toString);
        assertTrue(refused.err().contains("[BUNDLE-005]"), refused::toString);
        assertFalse(Files.exists(any.home().resolve("deploy/" + MODELS + "-0.5.0.jar")));
        Result verified = listed.tenon("bundles", "verify", jar);
        assertEquals(1, verified.code(), verified::toString);
        assertTrue(verified.out().contains("bundles.trust=listed: refused"), verified::toString);

        assertEquals(0, listed.tenon("bundles", "trust", jar).code());
        Result installed = listed.tenon("bundles", "install", jar);
        assertEquals(0, installed.code(), installed::toString);
        JsonNode models = models(listed.tenon("bundles", "--json"));
        assertEquals("0.5.0", models.path("version").asText());
        assertEquals("none", models.path("access").asText());
        assertTrue(verified.out().contains(models.path("sha256").asText()), models::toString);
    }

    @Test
    void aJarThatWasChangedAfterItWasListedDoesNotRunAtTheNextStart() throws Exception {
        String jar = version("0.5.0").toString();
        assertEquals(0, listed.tenon("bundles", "trust", jar).code());
        assertEquals(0, listed.tenon("bundles", "install", jar).code());
        Path kept = any.home().resolve("deploy/" + MODELS + "-0.5.0.jar");
        Jars.patched(version("0.5.0"), kept, Map.of("Changed", "yes"));
        Result list = listed.tenon("bundles", "--json");
        assertEquals("0.1.0", models(list).path("version").asText(), "the distribution's, which is listed");
        assertTrue(list.err().contains("is ignored: " + MODELS + " 0.5.0 is not trusted"), list::toString);
        assertEquals(
                "0.5.0", models(any.tenon("bundles", "--json")).path("version").asText());
    }

    @Test
    void aChangedJarOfTheDistributionDoesNotRun() throws Exception {
        Path jar =
                any.home().resolve("bundles").resolve(Jars.ours("models-qwen3").getFileName());
        Files.copy(version("0.1.0"), jar, StandardCopyOption.REPLACE_EXISTING);
        Result list = listed.tenon("bundles", "--json");
        assertFalse(list.out().contains("\"" + MODELS + "\""), list::toString);
        assertTrue(list.err().contains("[BUNDLE-005]"), list::toString);
    }

    @Test
    void theDistributionRunsWhereSignaturesAreAskedAndTheEnvironmentDoesNotChangeThat() throws Exception {
        Path file = any.home().resolve("etc/dev.tenon.platform.bundles.cfg");
        Files.writeString(file, "\nbundles.trust = signed\n", StandardOpenOption.APPEND);
        Files.delete(any.home().resolve(LIST));
        Result refused = any.with("TENON_BUNDLES_TRUST", "any")
                .tenon("bundles", "install", version("0.5.0").toString());
        assertEquals(1, refused.code(), refused::toString);
        assertTrue(refused.err().contains("TENON_BUNDLES_TRUST is ignored"), refused::toString);
        assertTrue(refused.err().contains("(bundles.trust=signed)"), refused::toString);
        Result list = any.tenon("bundles", "--json");
        assertEquals("0.1.0", models(list).path("version").asText());
        assertEquals(
                "All bundles are running.\n", any.tenon("bundles", "--problems").out());
    }
}
