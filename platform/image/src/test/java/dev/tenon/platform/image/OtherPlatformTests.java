package dev.tenon.platform.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What archives for platforms need whose modules are not here.
class OtherPlatformTests {
    @TempDir
    Path folder;

    private static void tool(String name, String... arguments) {
        assertEquals(0, ToolProvider.findFirst(name).orElseThrow().run(System.out, System.err, arguments), name);
    }

    @Test
    void thePlatformIsThatOfTheModules() throws Exception {
        Path source = Files.writeString(folder.resolve("module-info.java"), "module made.up {}");
        tool("javac", "-d", folder.resolve("classes").toString(), source.toString());
        tool(
                "jmod",
                "create",
                "--class-path",
                folder.resolve("classes").toString(),
                "--target-platform",
                "windows-amd64",
                folder.resolve("java.base.jmod").toString());

        JavaRuntime other = new JavaRuntime(folder.toString());
        assertEquals("windows-amd64", other.platform());
        assertFalse(other.isOwn());
        JavaRuntime own = new JavaRuntime("");
        assertTrue(own.platform().matches("(linux|macos|windows)-(amd64|x86_64|aarch64)"), "this machine");
    }

    @Test
    void aZipHasFilesInPlaceOfLinks() throws Exception {
        Path tree = Files.createDirectories(folder.resolve("tree/lib")).getParent();
        Files.writeString(tree.resolve("lib/a"), "text");
        Files.createSymbolicLink(tree.resolve("lib/b"), Path.of("a"));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Trees.zip(tree, "tenon/", bytes, Instant.parse("2026-11-01T00:00:00Z"));
        Path file = Files.write(folder.resolve("a.zip"), bytes.toByteArray());
        try (ZipFile zip = new ZipFile(file.toFile())) {
            assertEquals(
                    List.of("tenon/lib/a", "tenon/lib/b"),
                    zip.stream().map(Object::toString).toList());
            assertEquals(
                    "text",
                    new String(zip.getInputStream(zip.getEntry("tenon/lib/b")).readAllBytes()));
        }
    }
}
