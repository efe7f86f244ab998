package dev.tenon.api.registry;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryFileTests {
    private static final String PLACE = "https://example.org/a";

    private static RegistryFile file(String name, String uri, Map<String, String> headers) {
        return new RegistryFile(name, URI.create(uri), -1, "", headers);
    }

    private static void refused(String name, String uri, Map<String, String> headers) {
        assertThrows(IllegalArgumentException.class, () -> file(name, uri, headers));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ".gguf/", "a.txt", "/a.gguf", "../a.gguf", "a/./b.gguf", "a//b.gguf", "a\\b.gguf", "a\n.gguf"
            })
    void aNameIsAPathBelowAFolder(String name) {
        refused(name, PLACE, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.gguf", "a/b c.gguf", "Q8_0/m-00001-of-00002.GGUF", "..a.gguf"})
    void aNameMayHaveFolders(String name) {
        assertEquals(name, file(name, PLACE, Map.of()).name());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ftp://example.org/a", "a.gguf", "https:///a", "file:a.gguf", "file://host/a.gguf", "mailto:a"})
    void anAddressHasOneOfThreeSchemes(String uri) {
        refused("a.gguf", uri, Map.of());
    }

    @Test
    void sizesAndSumsAreKnownOrNot() {
        URI uri = URI.create("file:///a.gguf");
        assertThrows(IllegalArgumentException.class, () -> new RegistryFile("a.gguf", uri, -2, "", Map.of()));
        assertThrows(IllegalArgumentException.class, () -> new RegistryFile("a.gguf", uri, 0, "ab", Map.of()));
        assertDoesNotThrow(() -> new RegistryFile("a.gguf", uri, 0, "aB".repeat(32), Map.of()));
    }

    @Test
    void headersAreThoseThatADownloadDoesNotSetAndAreNotShown() {
        refused("a.gguf", PLACE, Map.of("Range", "bytes=1-"));
        refused("a.gguf", PLACE, Map.of("X Y", "1"));
        IllegalArgumentException wrong = assertThrows(
                IllegalArgumentException.class, () -> file("a.gguf", PLACE, Map.of("X", "secret\r\nY: 1")));
        assertFalse(wrong.getMessage().contains("secret"), wrong::getMessage);
        RegistryFile file = file("a.gguf", PLACE, Map.of("Authorization", "Bearer secret"));
        assertTrue(file.toString().contains("Authorization") && !file.toString().contains("secret"), file::toString);
    }
}
