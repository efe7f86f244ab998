package dev.tenon.platform.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What numbers options take.
class RangesTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void setUp() {
        cli = new TestCli(folder);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                    -t              | 100000       | '--threads': 100000; expected 0 to 1024.
                    -t              | -4           | '--threads': -4; expected 0 to 1024.
                    -c              | -1           | '--ctx-size': -1; expected 0 to 2147483647.
                    -b              | 2147483647   | '--batch-size': 2147483647; expected 0 to 1048576.
                    -n              | -2           | '--n-predict': -2; expected at least -1.
                    -n              | 99999999999  | '--n-predict': '99999999999' is not a whole number in range.
                    -s              | -2           | '--seed': -2; expected at least -1.
                    --temp          | NaN          | '--temp': NaN; expected 0 to 100.
                    --temp          | warm         | '--temp': 'warm' is not a number.
                    --top-k         | -1           | '--top-k': -1; expected at least 0.
                    --top-p         | 1.5          | '--top-p': 1.5; expected 0 to 1.
                    --min-p         | -0.25        | '--min-p': -0.25; expected 0 to 1.
                    --repeat-last-n | -2           | '--repeat-last-n': -2; expected at least -1.
                    -l              | 999999+1     | '--logit-bias': 999999 is not a token; expected 0 to 258.
                    -l              | 99999999999+1 | '--logit-bias': 99999999999 is not a token; expected 0 to 2147483646.
                    -l              | 5+inf        | '--logit-bias': '5+inf' is not a token id with a bias such as 15043+1.
                    """)
    void aNumberOutOfRangeIsOneLineWithOptionValueAndWhatIsAllowed(String option, String value, String message) {
        TestCli.Result result = cli.run("run", "-p", "Once", option, value);
        assertEquals(
                "tenon: Invalid value for option " + message + " See 'tenon run --help'. [CLI-001]\n", result.err());
        assertEquals(2, result.status());
        assertEquals("", result.out());
        assertTrue(cli.engine.requests.isEmpty(), "nothing is generated");
    }

    @Test
    void anEmptyModelIsNotTheConfiguredOne() {
        TestCli.Result result = cli.run("run", "-p", "Once", "-m", "");
        assertEquals(
                "tenon: -m is empty. Name a model, or leave -m out to take the configured one. [CLI-001]\n",
                result.err());
        assertEquals(2, result.status());
    }

    @Test
    void numbersAtTheEndsOfTheirRangesAreTaken() {
        TestCli.Result result = cli.run(
                "run",
                "-p",
                "Once",
                "-t",
                "1024",
                "-n",
                "-1",
                "--top-p",
                "1",
                "--min-p",
                "0",
                "--temp",
                "0",
                "-s",
                "-1",
                "--repeat-last-n",
                "-1",
                "-l",
                "5-inf",
                "-l",
                "258+1.5");
        assertEquals(0, result.status(), result.err());
        assertEquals(1024, cli.engine.loads.getFirst().threads());
    }

    @Test
    void helpIsShownWhateverTheNumbersAre() {
        TestCli.Result result = cli.run("run", "-t", "-4", "--help");
        assertEquals(0, result.status(), result.err());
    }
}
