package org.example.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.itest.testkit.ModelRegistryContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderRegistryTests extends ModelRegistryContract {
    @TempDir
    Path folder;

    private final ModelRegistry registry = new FolderRegistry();

    @BeforeEach
    void write() throws IOException {
        for (String name : List.of(
                "story.gguf", "big-00002-of-00002.gguf", "big-00001-of-00002.gguf", "big.gguf.part", "notes.txt")) {
            Files.writeString(folder.resolve(name), name);
        }
        set(folder.toString());
    }

    private static void set(String models) {
        new FolderSettings().configured(Map.of("folder.models", models));
    }

    @Override
    protected ModelRegistry registry() {
        return registry;
    }

    @Override
    protected String reference() {
        return "big";
    }

    @Test
    void aModelIsItsFileWhereItIs() {
        RegistryFile story = registry.files("story").getFirst();
        assertEquals("story.gguf", story.name());
        assertEquals(folder.resolve("story.gguf").toUri(), story.uri());
        assertEquals("story.gguf".length(), story.size());
    }

    @Test
    void whatIsMissingIsToldWithWhatIsThere() {
        TenonException none = assertThrows(TenonException.class, () -> registry.files("notes"));
        assertEquals(ErrorCode.DOWNLOAD, none.code());
        assertTrue(none.getMessage().contains("[big, story]"), none::getMessage);
        set(folder.resolve("gone").toString());
        assertEquals(
                ErrorCode.DOWNLOAD,
                assertThrows(TenonException.class, () -> registry.files("story")).code());
        set("");
        assertEquals(
                ErrorCode.CONFIG,
                assertThrows(TenonException.class, () -> registry.files("story")).code());
    }
}
