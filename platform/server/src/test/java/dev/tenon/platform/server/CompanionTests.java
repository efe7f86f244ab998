package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is told of a model in a folder that has a companion.
class CompanionTests {
    private static final int UINT32 = 4;
    private static final int BOOL = 7;
    private static final int STRING = 8;

    @TempDir
    Path folder;

    private final StubHub hub = new StubHub();
    private ServerFixture server;

    @BeforeEach
    void start() {
        server = new ServerFixture(b -> b.store(hub.store(folder)));
    }

    @AfterEach
    void stop() {
        server.close();
        hub.close();
    }

    private static ByteBuffer text(ByteBuffer out, String text) {
        return out.putLong(text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    }

    /// Writes a companion of the distribution's model.
    private Path companion(String kind) throws IOException {
        int width;
        try (GgufFile model = GgufReader.open(ServerFixture.MODEL, TensorTypes.standard())) {
            width = model.metadata().requiredInteger("qwen3.embedding_length");
        }
        ByteBuffer out = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
        out.put("GGUF".getBytes(StandardCharsets.US_ASCII)).putInt(3).putLong(1).putLong(4);
        text(text(out, "general.architecture").putInt(STRING), "clip");
        text(text(out, "clip.projector_type").putInt(STRING), "gemma3");
        text(out, "clip.has_" + kind + "_encoder").putInt(BOOL).put((byte) 1);
        text(out, "clip." + kind + ".projection_dim").putInt(UINT32).putInt(width);
        text(out, "mm.2.bias").putInt(1).putLong(width).putInt(0).putLong(0);
        int size = Math.ceilDiv(out.position(), 32) * 32 + width * Float.BYTES;
        return Files.write(folder.resolve("mmproj-tale-F16.gguf"), Arrays.copyOf(out.array(), size));
    }

    private JsonNode tags() throws Exception {
        return ServerFixture.json(server.get("/api/tags").body()).get("models");
    }

    private JsonNode inputs() throws Exception {
        return ServerFixture.json(server.get("/v1/models/tale").body()).at("/architecture/input_modalities");
    }

    @Test
    void aModelWithACompanionSees() throws Exception {
        Path file = Files.copy(ServerFixture.MODEL, folder.resolve("tale.gguf"));
        JsonNode blind = server.answer("/api/show", "{\"model\":\"tale\"}");
        assertFalse(blind.has("projector_info"));
        assertFalse(blind.get("capabilities").toString().contains("vision"));
        assertEquals("[\"text\"]", inputs().toString());

        Path companion = companion("vision");
        assertEquals(2, tags().size(), "the companion is no model");
        JsonNode tale = tags().get(1);
        assertEquals("tale", tale.get("name").asText());
        assertEquals(Files.size(file) + Files.size(companion), tale.get("size").asLong());
        assertEquals("[\"qwen3\",\"clip\"]", tale.at("/details/families").toString());
        JsonNode show = server.answer("/api/show", "{\"model\":\"tale\"}");
        assertTrue(show.get("capabilities").toString().contains("\"vision\""), show::toString);
        assertFalse(show.get("capabilities").toString().contains("\"audio\""), show::toString);
        assertEquals("gemma3", show.at("/projector_info/clip.projector_type").asText());
        assertTrue(show.at("/model_info/general.parameter_count").asLong() > 0);
        assertTrue(show.get("modelfile").asText().startsWith("FROM tale.gguf\nFROM mmproj-tale-F16.gguf\n"));
        assertEquals("[\"text\",\"image\"]", inputs().toString());
        assertEquals(
                "[\"text\"]",
                ServerFixture.json(server.get("/v1/models/story").body())
                        .at("/architecture/input_modalities")
                        .toString());
    }

    @Test
    void aModelWithACompanionForSoundsHears() throws Exception {
        Files.copy(ServerFixture.MODEL, folder.resolve("tale.gguf"));
        companion("audio");
        JsonNode show = server.answer("/api/show", "{\"model\":\"tale\"}");
        assertTrue(show.get("capabilities").toString().contains("\"audio\""), show::toString);
        assertEquals("[\"text\",\"audio\"]", inputs().toString());
    }

    @Test
    void aModelIsDeletedWithItsCompanion() throws Exception {
        Files.copy(ServerFixture.MODEL, folder.resolve("tale.gguf"));
        companion("vision");
        HttpRequest.Builder delete = HttpRequest.newBuilder(server.uri("/api/delete"))
                .header("Content-Type", "application/json")
                .method("DELETE", HttpRequest.BodyPublishers.ofString("{\"model\":\"tale\"}"));
        assertEquals(200, server.send(delete).statusCode());
        try (var left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
    }
}
