package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.api.text.TokenizerProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// Where the tests of this package find their data.
public final class TextTestData {
    static final List<TokenizerProvider> PROVIDERS = List.of(
            new ByteLevelBpeProvider(),
            new SentencePieceProvider(),
            new WordPieceProvider(),
            new RawBpeProvider(),
            new UnigramProvider(),
            new LongestMatchProvider());

    private TextTestData() {}

    static Tokenizer tokenizer(String resource) {
        return Tokenizers.create(TestGguf.resource(resource), PROVIDERS);
    }

    static Tokenizer tokenizer(Path file) {
        return Tokenizers.create(TestGguf.file(file), PROVIDERS);
    }

    /// {@return metadata of a vocabulary of a few tokens, all of them ordinary text}
    static GgufMetadata vocabulary(String model, String... tokens) {
        Map<String, GgufValue> values = new LinkedHashMap<>();
        values.put("tokenizer.ggml.model", GgufValue.of(model));
        values.put("tokenizer.ggml.tokens", new GgufValue(GgufType.ARRAY, GgufType.STRING, tokens));
        return GgufMetadata.of("tiny.gguf", values);
    }

    /// {@return metadata with one key set or, with a null value, left out}
    static GgufMetadata with(GgufMetadata metadata, String key, GgufValue value) {
        Map<String, GgufValue> values = new LinkedHashMap<>(metadata.values());
        if (value == null) {
            values.remove(key);
        } else {
            values.put(key, value);
        }
        return GgufMetadata.of(metadata.source(), values);
    }

    /// {@return a file or folder of the golden data that is not part of the project; the test is skipped
    /// without it}
    static Path shared(String path) {
        String given = System.getProperty("TENON_SHARED", System.getenv("TENON_SHARED"));
        Path root = given == null ? besideRepository() : Path.of(given);
        Path found = root.resolve(path);
        assumeTrue(Files.exists(found), "golden data " + path + " is not here; set TENON_SHARED to its folder");
        return found;
    }

    private static Path besideRepository() {
        Path at = Path.of("").toAbsolutePath();
        while (at.getParent() != null && !Files.exists(at.resolve("mvnw"))) {
            at = at.getParent();
        }
        return at.resolve("../shared").normalize();
    }

    static JsonNode json(Path file) {
        try {
            return new ObjectMapper().readTree(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static JsonNode json(String resource) {
        try (InputStream stream = TextTestData.class.getResourceAsStream(resource)) {
            return new ObjectMapper().readTree(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int[] ids(JsonNode array) {
        int[] ids = new int[array.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = array.get(i).asInt();
        }
        return ids;
    }

    /// {@return a text of up to `most` characters that likes the borders between the kinds of characters}
    public static String randomText(Random random, int most) {
        String likely = "  \t\n\r'aAzZ09.,!/-_<|>'s'T'll\u00a0\u2028\u3000\u0085"
                + "éÉßǅʰ\u0301\u0903ªº²Ⅷ½一あ가«»…€😀𝐀𐐀ſ\u0000\u200b";
        int[] points = likely.codePoints().toArray();
        StringBuilder text = new StringBuilder();
        int n = random.nextInt(most + 1);
        for (int i = 0; i < n; i++) {
            int point;
            if (random.nextInt(4) > 0) {
                point = points[random.nextInt(points.length)];
            } else {
                do {
                    point = random.nextInt(random.nextBoolean() ? 0x3000 : Character.MAX_CODE_POINT + 1);
                } while (point >= 0xd800 && point <= 0xdfff || point == 0x2581);
            }
            text.appendCodePoint(point);
        }
        return text.toString();
    }
}
