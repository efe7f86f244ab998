package dev.tenon.platform.core.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTests {
    @TempDir
    Path folder;

    private static void write(OutputFile file, String text) throws IOException {
        file.bytes().write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String refused(Runnable action) {
        TenonException error = assertThrows(TenonException.class, action::run);
        assertEquals(ErrorCode.IO, error.code());
        return error.getMessage();
    }

    private List<String> names() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    /// A private device node or pipe; a test that makes one is skipped where that is not allowed.
    private Path node(String name, String... command) throws Exception {
        Path node = folder.resolve(name);
        int status;
        try {
            status = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            status = 1;
        }
        assumeTrue(status == 0 && Files.exists(node), String.join(" ", command) + " is not possible here");
        return node;
    }

    private Path device() throws Exception {
        return node("node", "mknod", folder.resolve("node").toString(), "c", "1", "3");
    }

    private Path pipe() throws Exception {
        return node("pipe", "mkfifo", folder.resolve("pipe").toString());
    }

    @Test
    void fileAppearsWhenItIsComplete() throws IOException {
        Path target = folder.resolve("a");
        try (OutputFile file = OutputFile.open(target, false)) {
            write(file, "text");
            assertTrue(!Files.exists(target), "not yet");
            file.complete();
        }
        assertEquals("text", Files.readString(target));
        assertEquals(List.of("a"), names());
    }

    @Test
    void incompleteFileLeavesTheOldOneAndNothingElse() throws IOException {
        Path target = Files.writeString(folder.resolve("a"), "old");
        try (OutputFile file = OutputFile.open(target, true)) {
            write(file, "new");
        }
        assertEquals("old", Files.readString(target));
        assertEquals(List.of("a"), names());
    }

    @Test
    void fileIsReplacedOnlyWhereThatIsAllowed() throws IOException {
        Path target = Files.writeString(folder.resolve("a"), "old");
        assertTrue(refused(() -> OutputFile.open(target, false)).contains("-y"));
        try (OutputFile file = OutputFile.open(target, true)) {
            write(file, "new");
            file.complete();
        }
        assertEquals("new", Files.readString(target));
    }

    @Test
    void fileThatAppearsMeanwhileIsNotReplaced() throws IOException {
        Path target = folder.resolve("a");
        try (OutputFile file = OutputFile.open(target, false)) {
            write(file, "new");
            Files.writeString(target, "of another");
            refused(file::complete);
        }
        assertEquals("of another", Files.readString(target));
        assertEquals(List.of("a"), names());
    }

    @Test
    void replacedFileKeepsItsPermissions() throws IOException {
        assumeTrue(folder.getFileSystem().supportedFileAttributeViews().contains("posix"), "no POSIX permissions");
        Path target = Files.writeString(folder.resolve("a"), "old");
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-------"));
        OutputFile.write(target, true, "new");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(target)));
    }

    @Test
    void directoryIsRefused() throws IOException {
        assertTrue(refused(() -> OutputFile.open(folder, true)).contains("directory"));
        refused(() -> OutputFile.open(folder.getRoot(), true));
        refused(() -> OutputFile.openStream(folder, true));
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("d")));
        refused(() -> OutputFile.open(link, true));
    }

    @Test
    void folderThatIsMissingIsNamed() {
        Path target = folder.resolve("nowhere/a");
        assertTrue(refused(() -> OutputFile.open(target, false)).contains("folder does not exist"));
    }

    @Test
    void symbolicLinkIsRefusedAndKept() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("nothing"));
        for (Path each : List.of(link, dangling)) {
            assertTrue(refused(() -> OutputFile.open(each, true)).contains("symbolic link"));
            assertTrue(refused(() -> OutputFile.openStream(each, true)).contains("symbolic link"));
            assertTrue(Files.isSymbolicLink(each));
        }
        assertEquals("old", Files.readString(file));
        assertEquals(List.of("dangling", "file", "link"), names());
    }

    @Test
    void inputIsNotReplacedByAnyOfItsNames() throws IOException {
        Path input = Files.writeString(folder.resolve("in"), "source");
        Path hard = Files.createLink(folder.resolve("hard"), input);
        Path soft = Files.createSymbolicLink(folder.resolve("soft"), input);
        Path dotted = folder.resolve("x/../in");
        Files.createDirectory(folder.resolve("x"));
        for (Path each : List.of(input, hard, soft, dotted)) {
            assertTrue(refused(() -> OutputFile.open(each, true, folder.resolve("other"), input))
                    .contains("is read"));
            refused(() -> OutputFile.openStream(each, true, input));
        }
        // And where the command was given the link.
        refused(() -> OutputFile.open(input, true, soft));
        assertEquals("source", Files.readString(input));
    }

    @Test
    void deviceIsRefusedOrWrittenThrough() throws Exception {
        Path node = device();
        assertTrue(refused(() -> OutputFile.open(node, true)).contains("device"));
        OutputFile.write(node, false, "text");
        OutputFile.write(Files.createSymbolicLink(folder.resolve("link"), node), false, "text");
        assertTrue(
                Files.readAttributes(node, "isOther", LinkOption.NOFOLLOW_LINKS).containsValue(true));
        assertEquals(List.of("link", "node"), names());
    }

    @Test
    void pipeIsWrittenThroughAndKept() throws Exception {
        Path pipe = pipe();
        refused(() -> OutputFile.open(pipe, true));
        CompletableFuture<String> read = CompletableFuture.supplyAsync(() -> {
            try {
                return Files.readString(pipe);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        OutputFile.write(pipe, false, "text");
        assertEquals("text", read.join());
        assertTrue(!Files.isRegularFile(pipe));
    }

    @Test
    void whatAKilledProcessLeftOfTheSameFileGoesAndNothingElse() throws IOException {
        FileTime old = FileTime.from(Instant.now().minusSeconds(600));
        List<String> stay = List.of(
                "a." + ProcessHandle.current().pid() + "-1f.tmp",
                "a.999999999-1f.tmp.gguf",
                "a.999999999.tmp",
                "b.999999999-1f.tmp");
        for (String name : stay) {
            Files.setLastModifiedTime(Files.createFile(folder.resolve(name)), old);
        }
        Path moment = Files.createFile(folder.resolve("a.999999999-2a.tmp"));
        Path left = Files.createFile(folder.resolve("a.999999999-1f.tmp"));
        Files.setLastModifiedTime(left, old);
        OutputFile.write(folder.resolve("a"), false, "text");
        List<String> expected = new ArrayList<>(stay);
        expected.add("a");
        expected.add(moment.getFileName().toString());
        assertEquals(expected.stream().sorted().toList(), names());
    }
}
