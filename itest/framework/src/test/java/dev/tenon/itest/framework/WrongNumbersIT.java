package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.itest.framework.Installation.Result;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// An architecture that reads every tensor and computes other numbers does not get far.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class WrongNumbersIT {
    private static final Path GOLDEN =
            Path.of("../golden/src/test/resources/golden/models").toAbsolutePath();

    @TempDir
    Path folder;

    private Result itest(Path jar) throws Exception {
        return Installation.copy(folder)
                .tenon(
                        "itest",
                        jar.toString(),
                        "--model",
                        GOLDEN.resolve("qwen3.q8_0.gguf").toString(),
                        "--golden",
                        GOLDEN.resolve("qwen3.q8_0.json").toString());
    }

    @Test
    void goldenLogitsFailAnArchitectureThatRotatesOtherPairs() throws Exception {
        Result wrong = itest(Jars.rotatingNeighbours(folder.resolve("wrong.jar"), "0.2.0"));
        assertEquals(1, wrong.code(), wrong::toString);
        for (String expected : new String[] {
            "FAILED theLogitsAreTheGoldenOnes: len33 by the reference",
            "FAILED theLogitsAreTheGoldenOnes: len33 on cpu-vector"
        }) {
            assertTrue(wrong.out().contains(expected), () -> expected + " is not in " + wrong);
        }
    }

    @Test
    void goldenLogitsPassTheArchitectureThatTheyAreOf() throws Exception {
        Result right = itest(Jars.ours("models-qwen3"));
        assertEquals(0, right.code(), right::toString);
        assertFalse(right.out().contains("SKIPPED theLogitsAreTheGoldenOnes"), right::toString);
    }
}
