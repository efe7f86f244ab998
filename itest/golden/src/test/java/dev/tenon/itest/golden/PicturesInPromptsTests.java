package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.EmbeddingRequest.Pooling;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.media.MelSpectrogram;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Resampling;
import dev.tenon.api.media.Size;
import dev.tenon.api.media.Sound;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.StandaloneEngine;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The engine takes prompts with pictures and sounds: logits and texts are those of the golden files, whatever the
/// steps
/// are, and a second question about a picture runs only what is new.
class PicturesInPromptsTests {
    /// Whose logits are those of rows with the class of a picture after the patches, as models were not trained.
    private static final List<String> CLASS_LAST = List.of("vision/internvl", "vision/llava");

    private static final int PAGE = 64;
    private static final String PLACE = "<__media__>";
    /// Where activations are rounded to 8 bits.
    private static final double ROUNDED = 1e-2;
    /// Where those of many rows are rounded to float16.
    private static final double NEARLY = 1e-5;

    private static final GenerationRequest GREEDY = GenerationRequest.builder()
            .sampling(SamplingParams.greedy())
            .ignoreEndOfGeneration(true)
            .maxNewTokens(8)
            .build();

    @TestFactory
    Stream<DynamicTest> logitsAreTheTruth() {
        return GoldenPictures.pairs().map(name -> DynamicTest.dynamicTest(name, () -> run(name)));
    }

    /// Collects the tokens of a reply.
    private record Ids(List<Integer> ids) implements GenerationListener {
        @Override
        public void onText(String text) {
            // its tokens are compared
        }

        @Override
        public void onToken(GeneratedToken token) {
            ids.add(token.id());
        }
    }

    /// A prompt as tokens.
    private record Prompt(int[] tokens, List<PromptMedia> media) {
        static Prompt of(LoadedModel model, JsonNode each) {
            boolean heard = each.has("sound");
            String[] shown = each.get(heard ? "sound" : "image").asText().split("\\+");
            String[] texts = each.get("prompt").asText().split(PLACE, -1);
            IntStream.Builder tokens = IntStream.builder();
            List<PromptMedia> media = new ArrayList<>();
            for (int i = 0; i < texts.length; i++) {
                Arrays.stream(model.tokenizer().encode(texts[i], i == 0, true)).forEach(tokens);
                if (i + 1 < texts.length) {
                    media.add(heard ? model.encode(sound(shown[i])) : model.encode(GoldenPictures.picture(shown[i])));
                    Arrays.stream(media.getLast().tokens()).forEach(tokens);
                }
            }
            return new Prompt(tokens.build().toArray(), media);
        }

        GenerationRequest greedy() {
            return GREEDY.toBuilder().prompt(tokens).media(media).build();
        }
    }

    private static Sound sound(String name) {
        return Sound.of(GoldenData.floats(GoldenData.file("audio/" + name + ".pcm.f32")), MelSpectrogram.RATE);
    }

    private static LoadRequest.Builder request(String name) {
        return LoadRequest.builder(GoldenData.file(name + ".text.gguf"))
                .companion(GoldenData.file(name + ".mmproj.gguf"))
                .keyType(KvType.F32)
                .valueType(KvType.F32)
                .contextLength(1024)
                .maxSequences(3);
    }

    /// Long: an emulated instruction takes a thousand real ones.
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"gemma3", "qwen3vl"})
    void pairsRunOnTheEmulatedOrin(String name) {
        String pair = "vision/" + name;
        JsonNode prompts = GoldenData.json(GoldenData.file(pair + ".json")).get("images");
        LoadRequest orin = request(pair)
                .backend("nv-tegra")
                .device("emulated")
                .contextLength(256)
                .build();
        try (Engine engine = StandaloneEngine.create(Map.of("nv-tegra.kernels", "stand-ins"));
                LoadedModel cpu =
                        engine.load(request(pair).backend("cpu-vector").build());
                LoadedModel model = engine.load(orin)) {
            assertEquals("nv-tegra", model.device().kind());
            for (int i = 0; i < prompts.size(); i++) {
                Prompt prompt = Prompt.of(model, prompts.get(i));
                texts(model, prompt, pair + " " + i);
                List<float[]> expected = continued(cpu, Prompt.of(cpu, prompts.get(i)));
                List<float[]> found = continued(model, prompt);
                double first = GoldenData.nmse(found.getFirst(), truth(pair, prompts, i), 0);
                assertTrue(first <= ROUNDED, pair + " prompt " + i + ": NMSE " + first);
                for (int t = 0; t < expected.size(); t++) {
                    double error = GoldenData.nmse(found.get(t), expected.get(t), 0);
                    assertTrue(error <= NEARLY, pair + " prompt " + i + ", token " + t + " after: NMSE " + error);
                }
            }
        }
    }

    /// The logits after a prompt, and after each of some tokens that follow it one by one.
    private static List<float[]> continued(LoadedModel model, Prompt prompt) {
        List<float[]> all = new ArrayList<>();
        try (Session session = model.newSession()) {
            session.evaluate(prompt.tokens, prompt.media, Rows.LAST, (index, row) -> all.add(row.clone()));
            for (int id = 3; id < 9; id++) {
                session.evaluate(new int[] {id}, Rows.LAST, (index, row) -> all.add(row.clone()));
            }
        }
        return all;
    }

    private static void run(String name) {
        JsonNode json = GoldenData.json(GoldenData.file(name + ".json"));
        JsonNode prompts = json.get(json.has("sounds") ? "sounds" : "images");
        List<float[]> whole = new ArrayList<>();
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(request(name).build())) {
            for (int i = 0; i < prompts.size(); i++) {
                Prompt prompt = Prompt.of(model, prompts.get(i));
                whole.add(logits(model, prompt));
                if (!CLASS_LAST.contains(name)) {
                    double error = GoldenData.nmse(whole.getLast(), truth(name, prompts, i), 0);
                    System.out.printf("%s %d NMSE %.3g%n", name, i, error);
                    assertTrue(error <= ROUNDED, name + " prompt " + i + ": NMSE " + error);
                }
                texts(model, prompt, name + " " + i);
            }
        }
        try (Engine engine = StandaloneEngine.create(Map.of("batch.tokens", "64"));
                LoadedModel model = engine.load(request(name).build())) {
            for (int i = 0; i < prompts.size(); i++) {
                assertArrayEquals(
                        whole.get(i), logits(model, Prompt.of(model, prompts.get(i))), name + " in pieces " + i);
            }
        }
    }

    /// A prompt that ends with a row is run again from it.
    @Test
    void aReplyThatNobodyHeardLeavesThePromptAsItWas() throws Exception {
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(request("vision/gemma3").build());
                Session session = model.newSession();
                Session other = model.newSession()) {
            PromptMedia picture = model.encode(GoldenPictures.picture("wide"));
            int[] all = picture.tokens();
            int rows =
                    IntStream.range(0, all.length).filter(i -> all[i] < 0).max().orElseThrow() + 1;
            GenerationRequest request = GREEDY.toBuilder()
                    .prompt(Arrays.copyOf(all, rows))
                    .media(List.of(picture))
                    .build();
            List<Integer> expected = new ArrayList<>();
            other.generate(request, new Ids(expected));

            Generation unheard = session.submit(request);
            while (session.length() == rows) {
                Thread.sleep(1);
            }
            session.cancel();
            unheard.result().toCompletableFuture().get();
            assertEquals(rows, session.length());
            List<Integer> found = new ArrayList<>();
            session.generate(GREEDY, new Ids(found));
            assertEquals(expected, found);
        }
    }

    /// Logits after a restored session are those after the one that was saved: also where the last picture is cut, and
    /// where all tokens run again, as a state does not go back to any place.
    @Test
    void aSavedSessionHasItsPictures() throws IOException {
        for (String name : List.of("vision/gemma3", "vision/qwen3vl", "vision/qwen35vl")) {
            JsonNode prompts = GoldenData.json(GoldenData.file(name + ".json")).get("images");
            Prompt prompt;
            List<Saved> all = new ArrayList<>();
            try (Engine engine = StandaloneEngine.create(Map.of());
                    LoadedModel model = engine.load(request(name).build())) {
                prompt = Prompt.of(model, prompts.get(prompts.size() - 1));
                int end = prompt.tokens.length;
                int lastRow = IntStream.range(0, end)
                        .filter(i -> prompt.tokens[i] < 0)
                        .max()
                        .orElseThrow();
                for (int length : new int[] {end - 1, lastRow + 1, lastRow}) {
                    all.add(Saved.of(model, prompt, length));
                }
            }
            try (Engine engine = StandaloneEngine.create(Map.of());
                    LoadedModel model = engine.load(request(name).build());
                    LoadedModel blind =
                            engine.load(request(name).companion(null).build())) {
                for (Saved saved : all) {
                    restored(model, prompt, saved);
                    TenonException e = assertThrows(TenonException.class, () -> restored(blind, prompt, saved));
                    // Where axes are rotated, it is another model.
                    String code = name.equals("vision/gemma3") ? ErrorCode.ARGUMENT : ErrorCode.SAVED_SESSION;
                    assertEquals(code, e.code(), e.getMessage());
                }
            }
        }
    }

    /// A session of the first tokens of a prompt, and the logits of the rest.
    private record Saved(int length, byte[] bytes, List<float[]> rest) {
        static Saved of(LoadedModel model, Prompt prompt, int length) throws IOException {
            try (Session session = model.newSession()) {
                session.evaluate(prompt.tokens, prompt.media, Rows.NONE, (index, row) -> {});
                session.truncate(length);
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                session.save(out);
                return new Saved(length, out.toByteArray(), PicturesInPromptsTests.rest(session, prompt));
            }
        }
    }

    private static void restored(LoadedModel model, Prompt prompt, Saved saved) throws IOException {
        try (Session session = model.newSession()) {
            session.restore(new ByteArrayInputStream(saved.bytes));
            assertArrayEquals(Arrays.copyOf(prompt.tokens, saved.length), session.tokens());
            List<float[]> found = rest(session, prompt);
            assertEquals(saved.rest.size(), found.size());
            for (int i = 0; i < found.size(); i++) {
                assertArrayEquals(saved.rest.get(i), found.get(i), "row " + i + " after " + saved.length);
            }
        }
    }

    private static List<float[]> rest(Session session, Prompt prompt) {
        int[] tokens = Arrays.copyOfRange(prompt.tokens, session.length(), prompt.tokens.length);
        List<float[]> rows = new ArrayList<>();
        session.evaluate(tokens, prompt.media, Rows.ALL, (index, row) -> rows.add(row.clone()));
        return rows;
    }

    /// By the hidden states of its tokens, as a text without pictures is.
    @Test
    void aTextWithPicturesIsEmbedded() {
        String name = "vision/gemma3";
        JsonNode prompts = GoldenData.json(GoldenData.file(name + ".json")).get("images");
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model =
                        engine.load(request(name).outputs(Graph.HIDDEN).build());
                Session session = model.newSession()) {
            Prompt prompt = Prompt.of(model, prompts.get(prompts.size() - 1));
            int length = prompt.tokens.length;
            double[] sum = new double[model.outputs().get(Graph.HIDDEN)];
            session.evaluate(
                    prompt.tokens, prompt.media, Rows.ALL, (index, row) -> Arrays.setAll(sum, i -> sum[i] + row[i]));
            List<float[]> vectors = model.embed(EmbeddingRequest.builder()
                    .pooling(Pooling.MEAN)
                    .normalize(false)
                    .text(prompt.tokens, prompt.media)
                    .text(model.tokenizer().encode("plain", true, false))
                    .build());
            for (int i = 0; i < sum.length; i++) {
                assertEquals(sum[i] / length, vectors.getFirst()[i], 1e-4);
            }
            assertEquals(2, vectors.size());
        }
    }

    @Test
    void aPictureHasAtLeastSoManyTokensAsAUserWants() {
        try (Engine engine = StandaloneEngine.create(Map.of("image.min.tokens", "40", "image.max.tokens", "64"));
                LoadedModel model = engine.load(request("vision/qwen3vl").build())) {
            for (String name : List.of("wide", "tall", "square")) {
                int rows = model.encode(GoldenPictures.picture(name)).rows();
                assertTrue(rows >= 40 && rows <= 64, name + " has " + rows + " rows");
            }
        }
        // The most counts before the least.
        try (Engine engine = StandaloneEngine.create(Map.of("image.min.tokens", "1000", "image.max.tokens", "64"));
                LoadedModel model = engine.load(request("vision/qwen3vl").build())) {
            for (String name : List.of("wide", "tall", "square")) {
                int rows = model.encode(GoldenPictures.picture(name)).rows();
                assertTrue(rows > 32 && rows <= 64, name + " has " + rows + " rows");
            }
        }
    }

    /// As if it had the proportions before, which its encoder keeps.
    @Test
    void aPictureIsStretchedWhereAUserWantsIt() {
        Picture wide = GoldenPictures.picture("wide");
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel kept = engine.load(request("vision/gemma3").build());
                LoadedModel stretched = engine.load(request("vision/gemma3")
                        .settings(Map.of("image.fit", "stretch"))
                        .build())) {
            int side = 84; // of pictures that the encoder takes
            PromptMedia before = kept.encode(Resampling.BILINEAR.resize(wide, new Size(side, side)));
            PromptMedia found = stretched.encode(wide);
            PromptMedia letterboxed = kept.encode(wide);
            assertTrue(found.rows() > 1);
            assertEquals(before.rows(), found.rows());
            for (int i = 0; i < found.rows(); i++) {
                assertArrayEquals(before.row(i), found.row(i), "row " + i);
                assertFalse(Arrays.equals(letterboxed.row(i), found.row(i)), "row " + i);
            }
            assertFalse(Arrays.equals(letterboxed.tokens(), found.tokens()), "prefixes with them would be shared");
        }
    }

    @Test
    void aPictureHasAtMostSoManyTokensAsAUserWants() {
        try (Engine engine = StandaloneEngine.create(Map.of("image.max.tokens", "64"))) {
            try (LoadedModel model = engine.load(request("vision/qwen3vl").build())) {
                int rows = model.encode(Picture.of(new Size(1000, 700), (y, rgb) -> {}))
                        .rows();
                assertTrue(rows > 32 && rows <= 64, rows + " rows");
                assertEquals(12, model.encode(GoldenPictures.picture("wide")).rows());
            }
        }
    }

    private static float[] truth(String name, JsonNode prompts, int i) {
        if (prompts.get(i).has("sound")) {
            String sound = prompts.get(i).get("sound").asText();
            return GoldenData.floats(GoldenData.file(name + "." + sound + ".logits_f32.f32"));
        }
        float[] all = GoldenData.floats(GoldenData.file(name + ".logits_f64.f32"));
        int vocabulary = all.length / prompts.size();
        return Arrays.copyOfRange(all, i * vocabulary, (i + 1) * vocabulary);
    }

    private static float[] logits(LoadedModel model, Prompt prompt) {
        float[][] last = new float[1][];
        try (Session session = model.newSession()) {
            session.evaluate(prompt.tokens, prompt.media, Rows.LAST, (index, row) -> last[0] = row.clone());
        }
        return last[0];
    }

    /// The same text again, which runs the last tokens alone.
    private static void texts(LoadedModel model, Prompt prompt, String name) {
        List<Integer> first = new ArrayList<>();
        List<Integer> second = new ArrayList<>();
        try (Session session = model.newSession()) {
            session.generate(prompt.greedy(), new Ids(first));
        }
        Usage again;
        try (Session session = model.newSession()) {
            again = session.generate(prompt.greedy(), new Ids(second));
        }
        assertEquals(first, second, name);
        assertTrue(
                again.cachedTokens() > 0 || again.promptTokens() <= 3 * PAGE,
                name + " runs " + again.promptTokens() + " tokens again");
    }
}
