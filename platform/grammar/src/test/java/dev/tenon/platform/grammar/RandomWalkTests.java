package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.SpecVersionDetector;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What comes of tokens that are drawn at random from the masks satisfies the schema, by another
/// validator's judgement. Not the format `time`, whose offsets that validator refuses late in the
/// day, and not the last label of mail addresses: that validator knows the names of top-level
/// domains.
class RandomWalkTests {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_TOKENS = 250;
    private static final Pattern LAST_LABEL = Pattern.compile("(\"email\":\\s*\"[^\"]*@[^\"]*\\.)[^\".]+\"");

    /// The keywords one by one, and what programs ask models for.
    private static Map<String, JsonNode> schemas() throws IOException {
        Map<String, JsonNode> schemas = new LinkedHashMap<>();
        for (String file : List.of("/schemas.json", "/payloads.json")) {
            JSON.readTree(RandomWalkTests.class.getResource(file))
                    .properties()
                    .forEach(each -> schemas.put(each.getKey(), each.getValue()));
        }
        return schemas;
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes", "llama-spm.gguf", "llama-bpe.gguf"})
    void textsOfRandomTokensSatisfyTheSchema(String vocabulary) throws IOException {
        Tokenizer tokenizer = vocabulary.equals("bytes")
                ? new ByteTokenizer("\": ", "\",", "\"}", "true")
                : Vocabularies.read(vocabulary);
        TokenVocabulary tokens = new TokenVocabulary(tokenizer);
        SchemaValidatorsConfig config =
                SchemaValidatorsConfig.builder().formatAssertionsEnabled(true).build();
        int seeds = vocabulary.equals("bytes") ? 20 : 2;
        int whole = 0;
        for (Map.Entry<String, JsonNode> each : schemas().entrySet()) {
            JsonSchema validator = JsonSchemaFactory.getInstance(
                            SpecVersionDetector.detectOptionalVersion(each.getValue(), false)
                                    .orElse(SpecVersion.VersionFlag.V202012))
                    .getSchema(each.getValue(), config);
            Grammar grammar = Grammar.ofJsonSchema(each.getValue().toString());
            for (int seed = 0; seed < seeds; seed++) {
                String text = walk(grammar.constraint(tokens), tokenizer, tokens.words(), new SplittableRandom(seed));
                if (text != null) {
                    whole++;
                    assertTrue(grammar.matches(text), () -> each.getKey() + ": " + text);
                    assertEquals(
                            java.util.Set.of(),
                            validator.validate(
                                    JSON.readTree(LAST_LABEL.matcher(text).replaceAll("$1de\""))),
                            () -> each.getKey() + ": " + text);
                }
            }
        }
        assertTrue(whole > seeds * schemas().size() / 2, whole + " texts came to an end");
    }

    /// {@return a text of random tokens; null if it has not come to an end}
    private static String walk(TokenConstraint constraint, Tokenizer tokenizer, int words, SplittableRandom random) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        long[] mask = new long[words];
        for (int i = 0; i < MOST_TOKENS && !constraint.isEnded(); i++) {
            for (int token : constraint.forced()) {
                constraint.accept(token);
                text.writeBytes(tokenizer.bytes(token));
            }
            if (constraint.isEnded()) {
                break;
            }
            constraint.mask(mask);
            // Towards the end of long texts, as a model would: what closes first.
            compare(mask, constraint, tokenizer, random);
            int token = draw(mask, random, tokenizer, i > 40);
            constraint.accept(token);
            text.writeBytes(tokenizer.isEndOfGeneration(token) ? new byte[0] : tokenizer.bytes(token));
        }
        return constraint.isComplete() ? text.toString(StandardCharsets.UTF_8) : null;
    }

    /// Asks for some tokens whether they can follow.
    private static void compare(long[] mask, TokenConstraint constraint, Tokenizer tokenizer, SplittableRandom random) {
        for (int i = 0; i < 8; i++) {
            int token = random.nextInt(tokenizer.vocabularySize());
            TokenConstraint copy = constraint.copy();
            boolean follows = true;
            try {
                copy.accept(token);
            } catch (IllegalArgumentException e) {
                follows = false;
            }
            assertEquals(follows, (mask[token >> 6] >>> token & 1) != 0, () -> tokenizer.piece(token));
        }
    }

    private static int draw(long[] mask, SplittableRandom random, Tokenizer tokenizer, boolean closing) {
        int count = 0;
        int drawn = -1;
        int closes = -1;
        for (int word = 0; word < mask.length; word++) {
            for (long bits = mask[word]; bits != 0; bits &= bits - 1) {
                int id = 64 * word + Long.numberOfTrailingZeros(bits);
                drawn = random.nextInt(++count) == 0 ? id : drawn;
                byte[] bytes = closing ? tokenizer.bytes(id) : new byte[0];
                closes = bytes.length == 1 && "\"]}".indexOf(bytes[0]) >= 0 ? id : closes;
            }
        }
        return closes >= 0 ? closes : drawn;
    }
}
