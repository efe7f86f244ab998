package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.VOCAB;
import static dev.tenon.platform.core.engine.EngineTests.generate;
import static dev.tenon.platform.core.engine.EngineTests.greedy;
import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.core.control.Definitions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a program gets that asks for nothing in particular: sessions, a chat template, and what is told of its file.
class DefaultsTests extends GenerationFixture {
    /// A chat template, cut off.
    static final String OWN = "{{ messages[0].role }";

    private static final int CONTEXT = 1024;

    private LoadRequest.Builder small() {
        return request().toBuilder().contextLength(CONTEXT).maxBatchTokens(CONTEXT);
    }

    @Test
    void keysOfANewerVersionAreToldAndNotRefused(@TempDir Path folder) throws IOException {
        List<String> before;
        try (LoadedModel model = engine.load(request())) {
            before = Definitions.unreadKeys(llama, model.file());
            assertFalse(before.contains("llama.block_count"), before.toString());
        }
        String newer = "llama.key_of_a_newer_version";
        Path file = with(folder, newer, "sixteen letters!");
        try (LoadedModel model = engine.load(LoadRequest.of(file))) {
            assertEquals(
                    Stream.concat(Stream.of(newer), before.stream()).toList(),
                    Definitions.unreadKeys(llama, model.file()));
        }
        file = with(folder, "llama.classifier.output_labels", "fourteen chars");
        try (LoadedModel model = engine.load(LoadRequest.of(file))) {
            assertEquals(
                    List.of(), Definitions.unreadKeys(llama, model.file()), "none is told where a value is impossible");
        }
    }

    @Test
    void fourSessionsAreOpenAtOnce() {
        try (LoadedModel model = engine.load(request())) {
            List<Session> sessions = new ArrayList<>();
            IntStream.range(0, 4).forEach(i -> sessions.add(model.newSession()));
            for (int i = 0; i < 4; i++) {
                assertEquals(
                        FakeBackend.expected(new int[] {5, i}, VOCAB, 3), generate(sessions.get(i), greedy(3, 5, i)));
            }
            OutOfResourcesException e = assertThrows(OutOfResourcesException.class, model::newSession);
            assertEquals(ErrorCode.KV_PAGES, e.code());
        }
    }

    @Test
    void sessionsThatNobodyAskedForShareTheMemoryOfOneContext() {
        try (LoadedModel model = engine.load(small().build())) {
            Session first = model.newSession();
            first.evaluate(new int[CONTEXT], Rows.NONE, (index, row) -> {});
            Session second = model.newSession();
            second.evaluate(new int[CONTEXT / 2], Rows.NONE, (index, row) -> {});
            model.newSession().evaluate(new int[CONTEXT], Rows.NONE, (index, row) -> {});
            int before = device.batchSizes.size();
            first.truncate(CONTEXT - 1);
            first.evaluate(new int[1], Rows.LAST, (index, row) -> {});
            assertEquals(
                    List.of(CONTEXT),
                    device.batchSizes.subList(before, device.batchSizes.size()),
                    "the others had taken its memory: all tokens run again");
        }
    }

    @Test
    void textsThatDoNotFitTheSharedMemoryTogetherAreEmbeddedAfterEachOther() {
        try (LoadedModel model = engine.load(small().outputs(Graph.HIDDEN).build())) {
            EmbeddingRequest.Builder texts = EmbeddingRequest.builder();
            IntStream.range(0, 8).forEach(i -> texts.text(new int[CONTEXT]));
            assertEquals(8, model.embed(texts.build()).size());
        }
    }

    @Test
    void aTemplateThatNothingCompilesIsNoSilence(@TempDir Path folder) throws IOException {
        Path file = withTemplate(folder);
        try (LoadedModel model = engine.load(LoadRequest.of(file))) {
            TenonException e = assertThrows(TenonException.class, model::chatTemplate);
            assertEquals(ErrorCode.MODEL_TEMPLATE, e.code());
            assertTrue(e.getMessage().contains("tenon-platform-templates"), e.getMessage());
        }
        try (LoadedModel model = engine.load(request())) {
            assertTrue(model.chatTemplate().isEmpty(), "the file has none");
        }
    }

    /// Writes the model with one more key, as long as keeps the alignment of the data.
    static Path withTemplate(Path folder) throws IOException {
        return with(folder, "tokenizer.chat_template", OWN);
    }

    private static Path with(Path folder, String name, String text) throws IOException {
        byte[] model = Files.readAllBytes(request().path());
        byte[] key = name.getBytes(StandardCharsets.UTF_8);
        byte[] value = text.getBytes(StandardCharsets.UTF_8);
        int more = Long.BYTES + key.length + Integer.BYTES + Long.BYTES + value.length;
        assertEquals(0, more % 32);
        ByteBuffer out = ByteBuffer.allocate(model.length + more).order(ByteOrder.LITTLE_ENDIAN);
        out.put(model, 0, 24);
        out.putLong(16, out.getLong(16) + 1);
        out.putLong(key.length).put(key).putInt(8).putLong(value.length).put(value);
        out.put(model, 24, model.length - 24);
        return Files.write(folder.resolve("one-key-more.gguf"), out.array());
    }
}
