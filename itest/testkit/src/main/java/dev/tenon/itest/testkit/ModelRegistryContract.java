package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What all [ModelRegistry]s have to keep to. Which models there are is their own.
public abstract class ModelRegistryContract {
    private static final List<String> UNKNOWN = List.of(
            " ",
            ".",
            "..",
            "../..",
            "../../../../../../../../etc/hostname",
            "/etc/hostname",
            "no-such-owner-7f3a/no-such-model:Q8_0",
            "no such model \u00FC\uD83D",
            "a\0b",
            "a\nb",
            "C:\\a",
            "%2e%2e/%2e%2e",
            "?a=b#c",
            "x".repeat(10_000));

    /// For subclasses.
    protected ModelRegistryContract() {}

    /// {@return what is under test}
    protected abstract ModelRegistry registry();

    /// {@return a reference that it knows: what stands after `ID:`}
    protected abstract String reference();

    private List<RegistryFile> files() {
        return registry().files(reference());
    }

    @Test
    void theIdCanStandBeforeAColon() {
        String id = registry().id();
        assertTrue(
                id.matches("[a-z][a-z0-9.+-]+") && !id.matches("https?|file"),
                () -> "'" + id + "'; expected two or more of a-z, 0-9 and . + -, a letter first, and no http or file");
        assertEquals(id, registry().id(), "the id is always the same");
    }

    /// What a request or a user says leads to a model of the registry, or to a line that says why not.
    @TestFactory
    Stream<DynamicTest> anUnknownReferenceIsRefusedWithTheReason() {
        return UNKNOWN.stream().map(reference -> {
            String name = reference.length() > 50 ? reference.length() + " times x" : "'" + reference + "'";
            return DynamicTest.dynamicTest(name, () -> refuses(reference));
        });
    }

    private void refuses(String reference) {
        try {
            fail("it has files for what it cannot know: " + registry().files(reference));
        } catch (TenonException e) {
            String text = e.getMessage().replace("[" + e.code() + "]", "").strip();
            assertFalse(
                    text.isBlank() || text.startsWith("null") || text.contains("Exception"),
                    () -> "it was refused with '" + text + "'; expected a line for people");
        } catch (RuntimeException | LinkageError e) {
            fail("it failed; expected a TenonException that says what is expected", e);
        }
    }

    @Test
    void aModelHasFilesOfDifferentNames() {
        List<String> names = files().stream().map(RegistryFile::name).toList();
        assertFalse(names.isEmpty(), "the model has no file");
        assertEquals(new HashSet<>(names).size(), names.size(), () -> "one is there twice: " + names);
    }

    @Test
    void aSplitModelHasAllItsPartsInOrder() {
        List<String> names = files().stream()
                .map(RegistryFile::name)
                .filter(name -> !name.contains("mmproj"))
                .toList();
        if (names.size() == 1 && !names.getFirst().matches(".*-\\d{5}-of-\\d{5}\\.gguf")) {
            return;
        }
        for (int i = 0; i < names.size(); i++) {
            String end = String.format(Locale.ROOT, "-%05d-of-%05d.gguf", i + 1, names.size());
            assertTrue(names.get(i).endsWith(end), () -> names + "; expected names that end in " + end + " and so on");
        }
    }

    @Test
    void placesAreSafe() {
        for (RegistryFile file : files()) {
            URI uri = file.uri();
            if (uri.getScheme().equals("http")) {
                InetAddress host = assertDoesNotThrow(() -> InetAddress.getByName(uri.getHost()));
                assertTrue(host.isLoopbackAddress(), () -> uri + "; expected https, or http of this machine");
            }
            assertEquals(null, uri.getUserInfo(), () -> file + ": an address is shown; expected headers instead");
        }
    }

    @Test
    void filesOfThisMachineAreThereAndAsLargeAsTold() throws IOException {
        for (RegistryFile file : files()) {
            if (file.uri().getScheme().equals("file")) {
                Path path = Path.of(file.uri());
                assertTrue(Files.isRegularFile(path), () -> path + " does not exist");
                if (file.size() >= 0) {
                    assertEquals(Files.size(path), file.size(), () -> "bytes of " + path);
                }
            }
        }
    }

    @Test
    void theAnswerIsTheSameAgain() {
        assertEquals(files(), files());
    }

    @Test
    void severalThreadsMayAsk() {
        List<RegistryFile> alone = files();
        NamedRuleContract.onThreads(() -> assertEquals(alone, files()));
    }
}
