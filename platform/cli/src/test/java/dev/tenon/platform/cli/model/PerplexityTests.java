package dev.tenon.platform.cli.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerplexityTests {
    @TempDir
    Path folder;

    @Test
    void logProbabilityIsTheLogOfTheSoftmax() {
        float[] logits = {0, (float) Math.log(2), (float) Math.log(5)};
        assertEquals(Math.log(1 / 8.0), PerplexityScore.logProbability(logits, 0), 1e-7);
        assertEquals(Math.log(5 / 8.0), PerplexityScore.logProbability(logits, 2), 1e-7);
        float[] large = {1000, 1000};
        assertEquals(Math.log(0.5), PerplexityScore.logProbability(large, 1), 1e-12);
    }

    @Test
    void scoreIsTheExponentOfTheMeanWithItsStandardError() {
        // Probabilities 1/2, 1/4 and 1/8: the negative logarithms are 1, 2 and 3 times log 2.
        PerplexityScore score = new PerplexityScore();
        double log2 = Math.log(2);
        for (double p : new double[] {0.5, 0.25, 0.125}) {
            score.add(new float[] {(float) Math.log(p), (float) Math.log(1 - p)}, 0);
        }
        assertEquals(3, score.count());
        assertEquals(4, score.perplexity(), 1e-6);
        // Variance with divisor n is 2/3 log(2)^2; divided by n - 1 = 2 and rooted: log(2)/sqrt(3).
        assertEquals(log2 / Math.sqrt(3) * 4, score.error(), 1e-6);
    }

    @Test
    void equalPredictionsHaveNoError() {
        PerplexityScore score = new PerplexityScore();
        for (int i = 0; i < 10; i++) {
            score.add(new float[8], i % 8);
        }
        assertEquals(8, score.perplexity(), 1e-12);
        assertEquals(0, score.error(), 1e-6);
    }

    @Test
    void onlyTheSecondHalfOfEachWindowIsScored() throws IOException {
        TestCli cli = new TestCli(folder);
        Path text = Files.writeString(folder.resolve("t.txt"), "abcdefghijklmnopqrst\n");
        TestCli.Result result = cli.run("perplexity", "-f", text.toString(), "-c", "8", "--json");
        assertEquals(0, result.status(), result.err());
        JsonNode json = new ObjectMapper().readTree(result.out());
        // 20 tokens are two windows of 8; each scores positions 4 to 6, which predict tokens 5 to 7.
        assertEquals(2, json.get("chunks").asInt());
        assertEquals(6, json.get("scored_tokens").asInt());
        assertEquals(FakeTokenizer.SIZE, json.get("ppl").asDouble(), 1e-9);
        assertArrayEquals(new int[] {'a', 'b', 'c', 'd'}, cli.engine.evaluated.get(0));
        assertArrayEquals(new int[] {'e', 'f', 'g'}, cli.engine.evaluated.get(1));
        assertArrayEquals(new int[] {'i', 'j', 'k', 'l'}, cli.engine.evaluated.get(2));
        assertEquals(8, cli.engine.loads.getFirst().contextLength());
    }

    @Test
    void eachPositionIsScoredAgainstTheTokenAfterIt() throws IOException {
        TestCli cli = new TestCli(folder);
        cli.engine.logits = token -> {
            float[] logits = new float[FakeTokenizer.SIZE];
            Arrays.fill(logits, Float.NEGATIVE_INFINITY);
            logits[token + 1] = 0; // certain of the next letter
            return logits;
        };
        Path text = Files.writeString(folder.resolve("t.txt"), "abcdefghijklmnop");
        TestCli.Result result = cli.run("perplexity", "-f", text.toString(), "-c", "8");
        assertEquals("[1]1.0000,[2]1.0000,\nFinal estimate: PPL = 1.0000 +/- 0.00000\n", result.out());
    }

    @Test
    void bosTakesTheFirstPlaceOfEachWindow() throws IOException {
        TestCli cli = new TestCli(folder);
        cli.engine.addsBos = true;
        Path text = Files.writeString(folder.resolve("t.txt"), "abcdefghijklmno");
        assertEquals(0, cli.run("perplexity", "-f", text.toString(), "-c", "8").status());
        assertArrayEquals(new int[] {FakeTokenizer.BOS, 'a', 'b', 'c'}, cli.engine.evaluated.get(0));
        assertArrayEquals(new int[] {FakeTokenizer.BOS, 'i', 'j', 'k'}, cli.engine.evaluated.get(2));
    }

    @Test
    void controlTokensInTheTextAreText() throws IOException {
        TestCli cli = new TestCli(folder);
        Path text = Files.writeString(folder.resolve("t.txt"), "<s>bcdefghijklmnopqrst");
        cli.run("perplexity", "-f", text.toString(), "-c", "8");
        assertEquals('<', cli.engine.evaluated.getFirst()[0]);
    }

    @Test
    void windowsMayBeLimited() throws IOException {
        TestCli cli = new TestCli(folder);
        Path text = Files.writeString(folder.resolve("t.txt"), "x".repeat(100));
        cli.run("perplexity", "-f", text.toString(), "-c", "8", "--chunks", "3");
        assertEquals(6, cli.engine.evaluated.size());
    }

    @Test
    void textShorterThanTwoWindowsIsRefused() throws IOException {
        TestCli cli = new TestCli(folder);
        Path text = Files.writeString(folder.resolve("t.txt"), "x".repeat(1023));
        TestCli.Result result = cli.run("perplexity", "-f", text.toString());
        assertEquals(2, result.status());
        assertTrue(result.err().contains("has 1023 tokens; expected at least 1024"), result.err());
        assertEquals(1, result.errLines());
    }

    @Test
    void missingTextIsAnIoError() {
        TestCli.Result result = new TestCli(folder).run("perplexity", "-f", "nowhere.txt");
        assertEquals(1, result.status());
        assertTrue(result.err().endsWith("[IO-001]\n"), result.err());
    }
}
