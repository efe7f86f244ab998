package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which file of a folder is the companion of a model.
class CompanionFileTests {
    private static final int UINT32 = 4;
    private static final int BOOL = 7;
    private static final int STRING = 8;
    private static final int WIDTH = 8;

    @TempDir
    Path folder;

    /// A file with keys and one tensor of floats.
    private Path write(String name, Map<String, Object> keys, String tensor, int... shape) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
        head.put("GGUF".getBytes(StandardCharsets.US_ASCII))
                .putInt(3)
                .putLong(1)
                .putLong(keys.size());
        keys.forEach((key, value) -> {
            text(head, key);
            switch (value) {
                case Integer number -> head.putInt(UINT32).putInt(number);
                case Boolean flag -> head.putInt(BOOL).put((byte) (flag ? 1 : 0));
                default -> text(head.putInt(STRING), value.toString());
            }
        });
        text(head, tensor).putInt(shape.length);
        int bytes = Float.BYTES;
        for (int length : shape) {
            head.putLong(length);
            bytes *= length;
        }
        head.putInt(0).putLong(0);
        byte[] file = new byte[Math.ceilDiv(head.position(), 32) * 32 + bytes];
        head.flip().get(file, 0, head.limit());
        return Files.write(folder.resolve(name), file);
    }

    private static ByteBuffer text(ByteBuffer to, String text) {
        return to.putLong(text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    }

    private Path model(String name) throws IOException {
        return write(name, Map.of("general.architecture", "llama", "llama.embedding_length", WIDTH), "t", WIDTH);
    }

    private static Map<String, Object> keys(int width) {
        Map<String, Object> keys = new LinkedHashMap<>();
        keys.put("general.architecture", "clip");
        keys.put("clip.has_vision_encoder", true);
        keys.put("clip.projector_type", "gemma3");
        keys.put("clip.vision.projection_dim", width);
        keys.put("clip.vision.image_size", 84);
        keys.put("clip.vision.patch_size", 14);
        return keys;
    }

    private Path companion(String name) throws IOException {
        return write(name, keys(WIDTH), "mm.2.weight", 3, WIDTH);
    }

    @Test
    void aCompanionSaysWhatItIs() throws IOException {
        Path model = model("story-Q8_0.gguf");
        assertEquals(Optional.empty(), CompanionFile.beside(model));
        Path file = companion("mmproj-F16.gguf");
        assertEquals(Optional.of(file), CompanionFile.beside(model));
        CompanionFile companion = CompanionFile.of(model).orElseThrow();
        assertTrue(companion.sees() && !companion.hears());
        assertEquals("gemma3", companion.projector());
        assertEquals(84, companion.imageSize().orElseThrow());
        assertEquals(14, companion.patchSize().orElseThrow());
        assertEquals(Files.size(file), companion.bytes());
        assertEquals(Optional.empty(), CompanionFile.beside(file), "it has none itself");
        Files.delete(file);
        assertEquals(Optional.empty(), CompanionFile.beside(model));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mmproj.gguf",
                "mmproj-model-f16.gguf",
                "MMPROJ-Q8_0.GGUF",
                "story.mmproj-f16.gguf",
                "story-mmproj.gguf",
                "story_mmproj_f16.gguf"
            })
    void itsNameHasTheWord(String name) throws IOException {
        assertTrue(CompanionFile.isNamed(name) && CompanionFile.isNamed("folder/" + name));
        Path file = companion(name);
        assertEquals(Optional.of(file), CompanionFile.beside(model("story-Q8_0.gguf")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"vision.gguf", "mmprojection.gguf", "ammproj.gguf", "mmproj.bin", "mmproj/story.gguf"})
    void otherNamesAreOthers(String name) throws IOException {
        Files.createDirectories(folder.resolve(name).getParent());
        companion(name);
        assertEquals(Optional.empty(), CompanionFile.beside(model("story-Q8_0.gguf")));
    }

    @Test
    void ofSeveralTheNameCountsAndThenThePrecision() throws IOException {
        Path model = model("story-2.5-it-Q4_K_M.gguf");
        List<String> order = List.of(
                "mmproj-story-2.5-it-BF16.gguf",
                "mmproj-story-2.5-it-Q8_0.gguf",
                "mmproj-story-2.5-f16.gguf",
                "mmproj-F16.gguf",
                "mmproj-BF16.gguf",
                "mmproj-Q8_0.gguf",
                "mmproj-F32.gguf",
                "mmproj-Q4_K_M.gguf");
        for (String name : order.reversed()) {
            companion(name);
        }
        assertEquals(
                order,
                CompanionFile.all(model).stream()
                        .map(each -> each.path().getFileName().toString())
                        .toList());
    }

    @Test
    void oneThatBelongsToAnotherModelByItsNameIsNotTaken() throws IOException {
        Path tale = model("tale-4b-Q8_0.gguf");
        Path story = model("story-4b-Q8_0.gguf");
        Path quantised = model("story-4b-F16.gguf");
        Path file = companion("mmproj-story-4b-F16.gguf");
        assertEquals(Optional.empty(), CompanionFile.beside(tale));
        assertEquals(Optional.of(file), CompanionFile.beside(story));
        assertEquals(Optional.of(file), CompanionFile.beside(quantised));
        Files.delete(story);
        Map<String, Object> wide = Map.of("general.architecture", "llama", "llama.embedding_length", 2 * WIDTH);
        write("story-4b-F16.gguf", wide, "t", WIDTH);
        assertEquals(Optional.of(file), CompanionFile.beside(tale), "the other one is too wide");
        model("story-4b-Q8_0.gguf");
        Path common = companion("mmproj-model-F16.gguf");
        assertEquals(Optional.of(common), CompanionFile.beside(tale));
        assertEquals(Optional.of(file), CompanionFile.beside(story));
    }

    @Test
    void itsWidthIsTheModels() throws IOException {
        Path model = model("story.gguf");
        write("mmproj-wide.gguf", keys(2 * WIDTH), "mm.2.weight", WIDTH, 2 * WIDTH);
        assertEquals(Optional.empty(), CompanionFile.beside(model));
        Path old = write("mmproj-old.gguf", keys(768), "mm.2.weight", 3, WIDTH);
        assertEquals(Optional.of(old), CompanionFile.beside(model), "768 is the width of no tensor");
        write("mmproj-old.gguf", keys(768), "v.blk.0.ln1.weight", WIDTH);
        assertEquals(Optional.empty(), CompanionFile.beside(model), "the encoder's width is its own");
        Map<String, Object> sound = new LinkedHashMap<>();
        sound.put("general.type", "mmproj");
        sound.put("clip.has_audio_encoder", true);
        sound.put("clip.audio.projector_type", "qwen2a");
        sound.put("clip.audio.projection_dim", WIDTH);
        Path heard = write("mmproj-sound.gguf", sound, "mm.a.fc.weight", 2 * WIDTH, WIDTH);
        CompanionFile companion = CompanionFile.of(model).orElseThrow();
        assertEquals(heard, companion.path());
        assertTrue(companion.hears() && !companion.sees());
        assertEquals("qwen2a", companion.projector());
        assertTrue(companion.imageSize().isEmpty());
    }

    @Test
    void whatCannotBeReadIsNoCompanion() throws IOException {
        Path model = model("story.gguf");
        Files.writeString(folder.resolve("mmproj-torn.gguf"), "GGUF");
        write("mmproj-text.gguf", Map.of("general.architecture", "llama"), "t", WIDTH);
        Map<String, Object> wrong = keys(WIDTH);
        wrong.put("clip.has_vision_encoder", "yes");
        write("mmproj-wrong.gguf", wrong, "mm.2.weight", WIDTH);
        assertEquals(Optional.empty(), CompanionFile.beside(model));
        companion("mmproj.gguf");
        Files.writeString(model, "GGUF");
        assertEquals(Optional.empty(), CompanionFile.beside(model));
        assertEquals(Optional.empty(), CompanionFile.beside(folder.resolve("none.gguf")));
        assertEquals(Optional.empty(), CompanionFile.beside(Path.of("/")));
    }

    @Test
    void aModelThatWasReplacedIsReadAgain() throws IOException {
        Path model = model("story.gguf");
        Path file = companion("mmproj.gguf");
        assertEquals(Optional.of(file), CompanionFile.beside(model));
        write("story.gguf", Map.of("general.architecture", "llama", "llama.embedding_length", 4096), "t", 4096);
        assertEquals(Optional.empty(), CompanionFile.beside(model));
    }
}
