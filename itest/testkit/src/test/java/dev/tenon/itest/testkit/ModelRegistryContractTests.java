package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken registry fails the test of the contract that is there for it.
class ModelRegistryContractTests {
    private enum Fault {
        NONE(""),
        HAS_A_DRIVE_AS_ID("theIdCanStandBeforeAColon"),
        IS_CALLED_HTTPS("theIdCanStandBeforeAColon"),
        COUNTS_IN_ITS_ID("theIdCanStandBeforeAColon"),
        KNOWS_EVERYTHING("anUnknownReferenceIsRefusedWithTheReason"),
        REFUSES_BY_AN_EMPTY_LIST("anUnknownReferenceIsRefusedWithTheReason"),
        REFUSES_WITHOUT_A_REASON("anUnknownReferenceIsRefusedWithTheReason"),
        FAILS_AT_ODD_TEXTS("anUnknownReferenceIsRefusedWithTheReason"),
        HAS_NO_FILE("aModelHasFilesOfDifferentNames"),
        HAS_ONE_TWICE("aModelHasFilesOfDifferentNames"),
        HAS_PARTS_IN_DISORDER("aSplitModelHasAllItsPartsInOrder"),
        LACKS_A_PART("aSplitModelHasAllItsPartsInOrder"),
        IS_READ_BY_HTTP("placesAreSafe"),
        SHOWS_ITS_PASSWORD("placesAreSafe"),
        HAS_A_FILE_THAT_IS_GONE("filesOfThisMachineAreThereAndAsLargeAsTold"),
        TELLS_ANOTHER_SIZE("filesOfThisMachineAreThereAndAsLargeAsTold"),
        DRAWS("theAnswerIsTheSameAgain"),
        KEEPS_TO_A_THREAD("severalThreadsMayAsk");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    @TempDir
    private static Path folder;

    private static Fault current;

    @BeforeAll
    static void write() throws IOException {
        for (int i = 1; i <= 2; i++) {
            Files.writeString(folder.resolve("m-0000" + i + "-of-00002.gguf"), "GGUF");
        }
    }

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends ModelRegistryContract {
        private final ModelRegistry registry = new Broken();

        @Override
        protected ModelRegistry registry() {
            return registry;
        }

        @Override
        protected String reference() {
            return "m";
        }
    }

    private static final class Broken implements ModelRegistry {
        private final Thread thread = Thread.currentThread();
        private int calls;

        @Override
        public String id() {
            return switch (current) {
                case HAS_A_DRIVE_AS_ID -> "c";
                case IS_CALLED_HTTPS -> "https";
                case COUNTS_IN_ITS_ID -> "own" + calls++;
                default -> "own";
            };
        }

        @Override
        public List<RegistryFile> files(String reference) {
            if (current == Fault.KEEPS_TO_A_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
            if (!reference.equals("m") && current != Fault.KNOWS_EVERYTHING) {
                if (current == Fault.REFUSES_BY_AN_EMPTY_LIST) {
                    return List.of();
                }
                if (current == Fault.FAILS_AT_ODD_TEXTS) {
                    folder.resolve(reference);
                }
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        current == Fault.REFUSES_WITHOUT_A_REASON ? "null" : "There is no such model; expected m.");
            }
            List<RegistryFile> files = new ArrayList<>(List.of(file(1), file(2)));
            switch (current) {
                case HAS_NO_FILE -> files.clear();
                case HAS_ONE_TWICE -> files.set(1, files.getFirst());
                case HAS_PARTS_IN_DISORDER -> Collections.reverse(files);
                case LACKS_A_PART -> files.removeLast();
                default -> {}
            }
            return files;
        }

        private RegistryFile file(int part) {
            String name = "m-0000" + part + "-of-00002.gguf";
            URI uri = switch (current) {
                case IS_READ_BY_HTTP -> URI.create("http://192.0.2.1/" + name);
                case SHOWS_ITS_PASSWORD -> URI.create("https://me:secret@127.0.0.1/" + name);
                case HAS_A_FILE_THAT_IS_GONE -> folder.resolve("gone").toUri();
                case DRAWS -> URI.create("https://127.0.0.1/" + calls++);
                default -> folder.resolve(name).toUri();
            };
            return new RegistryFile(name, uri, current == Fault.TELLS_ANOTHER_SIZE ? 5 : 4, "", Map.of());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFaultIsFound(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 0);
        assertTrue(failures.containsKey(fault.found), () -> fault + ": " + failures);
    }

    @Test
    void aSoundOnePasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 15));
    }
}
