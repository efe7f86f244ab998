package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import dev.tenon.platform.boot.BundleChanges;
import dev.tenon.platform.launcher.home.CacheFolder;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.home.PlatformException;
import dev.tenon.platform.launcher.log.LineLayout;
import dev.tenon.platform.launcher.log.LogSetup;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.BundleException;

class LauncherPartsTests {
    @Nested
    class Folders {
        @TempDir
        Path folder;

        @Test
        void jarsAreListedByNameWithoutHiddenAndOtherFiles() throws IOException {
            for (String name : List.of("b.jar", "a.jar", ".c.jar", "d.txt")) {
                Files.createFile(folder.resolve(name));
            }

            assertEquals(List.of(folder.resolve("a.jar"), folder.resolve("b.jar")), Home.files(folder, ".jar"));
        }

        @Test
        void missingFolderIsAnEmptyOne() {
            assertEquals(List.of(), Home.files(folder.resolve("none"), ".jar"));
        }

        @Test
        void cacheFolderIsRemovedByClose() throws IOException {
            Path path;
            try (CacheFolder cache = CacheFolder.create()) {
                path = cache.path();
                Files.createDirectories(path.resolve("deep/er"));
                Files.writeString(path.resolve("deep/er/file"), "x");
                assertTrue(Files.isDirectory(path));
            }
            assertFalse(Files.exists(path));
        }

        @Test
        void cacheFolderLiesInTheNamedFolderIfThatHasRoom() {
            String before = System.getProperty("tenon.work");
            try {
                System.setProperty("tenon.work", folder.toString());
                assumeTrue(folder.toFile().getUsableSpace() >= 1L << 30, "less than 1 GiB is free in " + folder);
                try (CacheFolder cache = CacheFolder.create()) {
                    assertEquals(folder, cache.path().getParent());
                }
                System.setProperty("tenon.work", folder.resolve("none").toString());
                try (CacheFolder cache = CacheFolder.create()) {
                    assertEquals(
                            Path.of(System.getProperty("java.io.tmpdir")),
                            cache.path().getParent());
                }
            } finally {
                if (before == null) {
                    System.clearProperty("tenon.work");
                } else {
                    System.setProperty("tenon.work", before);
                }
            }
        }

        @Test
        void sweepRemovesAbandonedFoldersAndKeepsThoseInUse() throws IOException {
            FileTime past = FileTime.from(Instant.now().minusSeconds(600));
            Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
            // A lock that cannot be opened, as when another process removes the folder, keeps only that folder.
            Path strange = Files.createDirectory(temporary.resolve("tenon-cache-test-a" + System.nanoTime()));
            Files.createDirectory(strange.resolve("in-use"));
            Files.setLastModifiedTime(strange, past);
            Path abandoned = Files.createDirectory(temporary.resolve("tenon-cache-test-b" + System.nanoTime()));
            Files.createFile(abandoned.resolve("in-use"));
            Files.setLastModifiedTime(abandoned, past);
            try (CacheFolder used = CacheFolder.create()) {
                Files.setLastModifiedTime(used.path(), past);

                CacheFolder.sweep();

                assertTrue(Files.isDirectory(used.path()));
            }
            assertFalse(Files.exists(abandoned));
            assertTrue(Files.isDirectory(strange));
            CacheFolder.delete(strange);
        }
    }

    @Nested
    class Levels {
        @Test
        void oneLevelIsForEverything() {
            assertEquals(Map.of("root", "debug"), LogSetup.parse("debug"));
        }

        @Test
        void listNamesLoggers() {
            assertEquals(Map.of("root", "info", "dev.tenon", "trace"), LogSetup.parse("info, dev.tenon = trace,"));
        }

        @Test
        void bundlesThatComeAndGoAreToldUnlessALevelWasAskedFor() {
            Map<String, String> file = Map.of("root", "WARN");
            assertEquals("info", LogSetup.levels(file, Map.of()).get(BundleChanges.LOGGER));
            assertEquals(Map.of("root", "error"), LogSetup.levels(file, Map.of("root", "error"), Map.of()));
            assertEquals(
                    "off",
                    LogSetup.levels(Map.of(BundleChanges.LOGGER, "off"), Map.of("dev.tenon", "debug"))
                            .get(BundleChanges.LOGGER));
        }

        @Test
        void nothingGivenChangesNothing() {
            assertEquals(Map.of(), LogSetup.parse(null));
            assertEquals(Map.of(), LogSetup.parse(" "));
        }

        @Test
        void lineHoldsLevelSimpleNameMessageAndStackTrace() {
            var logger = new LoggerContext().getLogger("dev.tenon.some.Name");
            var event = new LoggingEvent(
                    "x", logger, Level.WARN, "a {} b", new IllegalStateException("why"), new Object[] {1});

            List<String> lines = new LineLayout().doLayout(event).lines().toList();

            assertEquals("WARN Name - a 1 b", lines.get(0));
            assertEquals("java.lang.IllegalStateException: why", lines.get(1));
        }
    }

    @Nested
    class Machines {
        @Test
        void littleEndianMachineOf64BitsWillDo() {
            Main.checkMachine("64", ByteOrder.LITTLE_ENDIAN);
        }

        @Test
        void otherMachinesAreToldWhatIsNeeded() {
            for (Executable refused : List.<Executable>of(
                    () -> Main.checkMachine("32", ByteOrder.LITTLE_ENDIAN),
                    () -> Main.checkMachine("64", ByteOrder.BIG_ENDIAN))) {
                String message = assertThrows(PlatformException.class, refused).getMessage();
                assertTrue(message.contains("64-bit little-endian"), message);
                assertTrue(message.endsWith("[ENV-001]"), message);
            }
        }
    }

    @Nested
    class Texts {
        @Test
        void reasonIsTheInnermostMessageInOneLine() {
            Throwable why = new BundleException("outer", new BundleException("missing\n  requirement x"));

            assertEquals("missing requirement x", NotedProblems.reason(why));
        }

        @Test
        void reasonNamesTheTypeOfAnOrdinaryException() {
            Throwable why = new BundleException("outer", new IllegalStateException("no driver"));

            assertEquals("IllegalStateException: no driver", NotedProblems.reason(why));
        }

        @Test
        void reasonWithoutMessageIsTheType() {
            assertEquals("java.lang.StackOverflowError", NotedProblems.reason(new StackOverflowError()));
        }

        @Test
        void unexpectedExceptionFitsOneLine() {
            String line = Main.oneLine(new IllegalStateException("first\n  second"));

            assertEquals(
                    "unexpected java.lang.IllegalStateException: first second (TENON_LOG=debug shows the stack trace)",
                    line);
        }

        @Test
        void aLimitOnThreadsIsNamed() {
            String line = Main.oneLine(new OutOfMemoryError("unable to create native thread: possibly out of memory"));
            assertTrue(line.contains("ulimit -u") && line.endsWith("[ENV-004]"), line);
        }

        @Test
        void platformErrorEndsWithItsCode() {
            assertEquals("No. [ENV-003]", new PlatformException("No.").getMessage());
        }
    }
}
