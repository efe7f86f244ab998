package dev.tenon.platform.cli.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.platform.cli.main.TestCli;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `embed` and `rerank`. Of a text, the fake engine's vector is its tokens and a quarter of the first one; a
/// document's score falls with its length.
class EmbedCommandTests {
    @TempDir
    Path folder;

    private TestCli cli;

    @BeforeEach
    void start() {
        cli = new TestCli(folder);
    }

    private TestCli.Result succeeds(String... args) {
        TestCli.Result result = cli.run(args);
        assertEquals(0, result.status(), result.err());
        return result;
    }

    private void fails(int status, String text, String... args) {
        TestCli.Result result = cli.run(args);
        assertEquals(status, result.status(), result.err());
        assertTrue(result.err().contains(text), result.err());
        assertTrue(result.err().length() < 400, result.err());
    }

    @Test
    void eachTextIsALineOfNumbers() {
        assertEquals("2.0 24.25\n3.0 24.5\n", succeeds("embed", "ab", "bcd").out());
        EmbeddingRequest request = cli.engine.embeddings.getFirst();
        assertTrue(request.normalize());
        assertEquals(Optional.empty(), request.pooling());
        assertEquals(List.of("embedding"), cli.engine.loads.getFirst().outputs());
        assertEquals(0, cli.engine.loads.getFirst().maxSequences());
        assertEquals("2.0,24.25\n", succeeds("embed", "--format", "csv", "ab").out());
    }

    @Test
    void textsComeFromLinesToo() throws IOException {
        Path file = Files.writeString(folder.resolve("t.txt"), "ab\r\nbcd\n");
        assertEquals(
                "2.0 24.25\n3.0 24.5\n",
                succeeds("embed", "-f", file.toString()).out());
        cli.stdin = "c\n".getBytes(StandardCharsets.UTF_8);
        assertEquals("1.0 24.75\n", succeeds("embed").out());
    }

    @Test
    void theFirstArgumentMayBeTheModel() {
        assertEquals(
                "2.0 24.25\n", succeeds("embed", cli.model.toString(), "ab").out());
        assertEquals(
                2,
                succeeds("embed", "-m", cli.model.toString(), cli.model.toString(), "ab")
                        .out()
                        .lines()
                        .count());
    }

    @Test
    void optionsReachTheEngine() {
        succeeds("embed", "--pooling", "mean", "--no-normalize", "--prefix", "x: ", "-np", "8", "ab");
        EmbeddingRequest request = cli.engine.embeddings.getFirst();
        assertEquals(Optional.of(Pooling.MEAN), request.pooling());
        assertFalse(request.normalize());
        assertArrayEquals(new int[] {'x', ':', ' ', 'a', 'b'}, request.texts().getFirst());
        assertEquals(List.of("hidden"), cli.engine.loads.getFirst().outputs());
        assertEquals(8, cli.engine.loads.getFirst().maxSequences());
    }

    @Test
    void jsonHoldsModelAndLength() throws IOException {
        JsonNode json = new ObjectMapper()
                .readTree(succeeds("embed", "--format", "json", "ab", "bcd").out());
        assertEquals("Fake model", json.get("model").asText());
        assertEquals(2, json.get("dimensions").asInt());
        assertEquals(24.5, json.get("embeddings").get(1).get(1).asDouble());
    }

    @Test
    void npyIsReadByItsHeader() throws IOException {
        Path file = folder.resolve("v.npy");
        TestCli.Result result = succeeds("embed", "--format", "npy", "-o", file.toString(), "ab", "bcd");
        assertTrue(result.err().contains("2 x 2 numbers written to " + file), result.err());
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int header = bytes.getShort(8);
        assertEquals(0, (10 + header) % 64, "numbers are aligned");
        String text = new String(bytes.array(), 10, header, StandardCharsets.US_ASCII);
        assertEquals("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", text.strip());
        assertTrue(text.endsWith("\n"));
        float[] values = new float[4];
        bytes.position(10 + header).asFloatBuffer().get(values);
        assertArrayEquals(new float[] {2, 24.25f, 3, 24.5f}, values);
        assertEquals(10 + header + 16, bytes.capacity());
        fails(1, "IO-001", "embed", "-o", file.toString(), "ab");
        succeeds("embed", "-y", "-o", file.toString(), "ab");
        assertEquals("2.0 24.25\n", Files.readString(file));
    }

    @Test
    void whatCannotBeEmbeddedIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("t.txt"), "ab\n\nbcd\n");
        fails(2, "Text 2 is blank", "embed", "-f", file.toString());
        fails(2, "both give texts", "embed", "-f", file.toString(), "ab");
        fails(2, "There is no text", "embed");
        fails(2, "CLI-001", "embed", "--pooling", "max", "ab");
        fails(2, "CLI-001", "embed", "-np", "257", "ab");
        cli.outTerminal = true;
        fails(2, "-o", "embed", "--format", "npy", "ab");
    }

    @Test
    void documentsAreSortedByTheirScores() throws IOException {
        String query = "12345";
        assertEquals(
                "    4.0000     2  a\n    3.0000     3  bb\n    2.0000     1  ccc\n",
                succeeds("rerank", "--query", query, "ccc", "a", "bb").out());
        assertEquals(List.of("scores"), cli.engine.loads.getFirst().outputs());
        assertEquals(
                "score,number\n4.0,2\n2.0,1\n",
                succeeds("rerank", "--query", query, "--format", "csv", "ccc", "a")
                        .out());
        JsonNode json = new ObjectMapper()
                .readTree(succeeds("rerank", "--query", query, "--format", "json", "ccc", "a")
                        .out());
        assertEquals("a", json.get(0).get("document").asText());
        assertEquals(2, json.get(0).get("number").asInt());
        assertEquals(2.0, json.get(1).get("score").asDouble());
        Path file = folder.resolve("order.txt");
        succeeds("rerank", cli.model.toString(), "--query", query, "-o", file.toString(), "ccc");
        assertEquals("    2.0000     1  ccc\n", Files.readString(file));
        fails(2, "--query", "rerank", "ccc");
    }
}
