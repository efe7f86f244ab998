package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdaptersTests {
    private static final int STRING = 8;
    private static final int F32 = 6;
    private static final int RANK = 4;
    private static final int ALIGNMENT = 32;

    @TempDir
    Path folder;

    private static void string(ByteBuffer out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.putLong(bytes.length).put(bytes);
    }

    private static void text(ByteBuffer out, String key, String value) {
        string(out, key);
        out.putInt(STRING);
        string(out, value);
    }

    /// Writes an adapter of one matrix.
    private static void write(Path file, TensorInfo matrix, int seed) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        out.put("GGUF".getBytes(StandardCharsets.US_ASCII)).putInt(3).putLong(2).putLong(4);
        text(out, "general.type", "adapter");
        text(out, "general.architecture", "qwen3");
        text(out, "adapter.type", "lora");
        string(out, "adapter.lora.alpha");
        out.putInt(F32).putFloat(40 * RANK);
        long offset = 0;
        for (String part : new String[] {"a", "b"}) {
            long cols = part.equals("a") ? matrix.cols() : RANK;
            long rows = part.equals("a") ? RANK : matrix.rows();
            string(out, matrix.name() + ".lora_" + part);
            out.putInt(2).putLong(cols).putLong(rows).putInt(0).putLong(offset);
            offset += Math.ceilDiv(cols * rows * Float.BYTES, ALIGNMENT) * ALIGNMENT;
        }
        out.position(Math.ceilDiv(out.position(), ALIGNMENT) * ALIGNMENT);
        Random random = new Random(seed);
        for (long i = 0; i < offset / Float.BYTES; i++) {
            out.putFloat((float) random.nextGaussian() / 16);
        }
        Files.write(file, java.util.Arrays.copyOf(out.array(), out.position()));
    }

    private static String answer(ServerFixture server, String path, String lora) throws Exception {
        String prompt = path.endsWith("chat/completions")
                ? "\"messages\":[{\"role\":\"user\",\"content\":\"A tale of a fox.\"}]"
                : "\"prompt\":\"Once upon a\"";
        return server.answer(
                        path, "{\"model\":\"tuned\"," + prompt + ",\"max_tokens\":12,\"temperature\":0" + lora + "}")
                .get("choices")
                .toString();
    }

    @Test
    void aRequestChoosesAdapters() throws Exception {
        Path one = folder.resolve("one.gguf");
        Path two = folder.resolve("two.gguf");
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(LoadRequest.builder(ServerFixture.MODEL)
                        .contextLength(64)
                        .build())) {
            TensorInfo matrix = model.file().tensors().stream()
                    .filter(each -> each.name().equals("blk.0.ffn_down.weight"))
                    .findFirst()
                    .orElseThrow();
            write(one, matrix, 1);
            write(two, matrix, 2);
        }
        LoadRequest request = LoadRequest.builder(ServerFixture.MODEL)
                .threads(2)
                .adapter("one", one, 1)
                .adapter("two", two, 0)
                .build();
        try (ServerFixture server = new ServerFixture(builder -> builder.model("tuned", request))) {
            for (String path : new String[] {"/v1/chat/completions", "/v1/completions"}) {
                String standard = answer(server, path, "");
                String first = answer(server, path, ",\"lora\":[{\"id\":0,\"scale\":1}]");
                String second = answer(server, path, ",\"lora\":[{\"id\":1,\"scale\":1}]");
                String none = answer(server, path, ",\"lora\":[]");
                assertEquals(standard, first);
                assertEquals(none, answer(server, path, ",\"lora\":[{\"id\":0,\"scale\":0}]"));
                assertEquals(first, answer(server, path, ",\"lora\":[{\"id\":0}]"));
                assertNotEquals(none, first);
                assertNotEquals(first, second);
                assertEquals(none, answer(server, path, ",\"lora\":[]"));
            }
            listAndSet(server);
            String chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"A\"}],\"max_tokens\":2,";
            for (String wrong : new String[] {
                "\"model\":\"tuned\",\"lora\":[{\"id\":2}]", "\"model\":\"tuned\",\"lora\":[{\"scale\":1}]",
                "\"model\":\"tuned\",\"lora\":{}", "\"model\":\"story\",\"lora\":[{\"id\":0}]"
            }) {
                server.error(400, "/v1/chat/completions", chat + wrong + "}");
            }
        }
    }

    private static JsonNode list(ServerFixture server) throws Exception {
        return ServerFixture.json(server.get("/lora-adapters?model=tuned").body());
    }

    private static void listAndSet(ServerFixture server) throws Exception {
        String path = "/lora-adapters?model=tuned";
        String before =
                "[{\"id\":0,\"path\":\"one.gguf\",\"scale\":1.0},{\"id\":1,\"path\":\"two.gguf\",\"scale\":0.0}]";
        assertEquals(ServerFixture.json(before), list(server));
        String completions = "/v1/completions";
        String second = answer(server, completions, ",\"lora\":[{\"id\":1,\"scale\":0.5}]");
        String first = answer(server, completions, "");
        server.answer(path, "[{\"id\":1,\"scale\":0.5}]");
        assertEquals(
                ServerFixture.json(before.replace("1.0", "0.0").replace("\"scale\":0.0}]", "\"scale\":0.5}]")),
                list(server));
        assertEquals(second, answer(server, completions, ""));
        assertEquals(first, answer(server, completions, ",\"lora\":[{\"id\":0,\"scale\":1}]"));
        server.answer(path, "[{\"id\":0},{\"id\":1,\"scale\":0}]");
        assertEquals(first, answer(server, completions, ""));
        for (String wrong : new String[] {"{}", "[1]", "[{\"id\":2}]", "[{\"scale\":1}]"}) {
            server.error(400, path, wrong);
        }
        server.error(404, "/lora-adapters?model=none", "[]");
        assertEquals("[]", server.get("/lora-adapters").body(), "of the first model, which has none");
    }
}
