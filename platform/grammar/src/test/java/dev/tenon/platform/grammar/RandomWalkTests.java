package dev.tenon.platform.grammar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What comes of tokens that are drawn at random from the masks satisfies the schema, by another
/// validator's judgement. Not the format `time`, whose offsets that validator refuses late in the
/// day.
class RandomWalkTests {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_TOKENS = 250;

    private static JsonNode schemas() throws IOException {
        return JSON.readTree(RandomWalkTests.class.getResource("/schemas.json"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes", "llama-spm.gguf", "llama-bpe.gguf"})
    void textsOfRandomTokensSatisfyTheSchema(String vocabulary) throws IOException {
        Tokenizer tokenizer = vocabulary.equals("bytes")
                ? new ByteTokenizer("\": ", "\",", "\"}", "true")
                : Vocabularies.read(vocabulary);
        TokenVocabulary tokens = new TokenVocabulary(tokenizer);
        JsonSchemaFactory factory = JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012);
        SchemaValidatorsConfig config =
                SchemaValidatorsConfig.builder().formatAssertionsEnabled(true).build();
        int seeds = vocabulary.equals("bytes") ? 20 : 2;
        int whole = 0;
        for (Map.Entry<String, JsonNode> each : schemas().properties()) {
            JsonSchema validator = factory.getSchema(each.getValue(), config);
            Grammar grammar = Grammar.ofJsonSchema(each.getValue().toString());
            for (int seed = 0; seed < seeds; seed++) {
                String text = walk(grammar.constraint(tokens), tokenizer, tokens.words(), new SplittableRandom(seed));
                if (text != null) {
                    whole++;
                    assertTrue(grammar.matches(text), () -> each.getKey() + ": " + text);
                    assertEquals(
                            java.util.Set.of(),
                            validator.validate(JSON.readTree(text)),
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
            int token = draw(mask, random, tokenizer, i > 40);
            constraint.accept(token);
            text.writeBytes(tokenizer.isEndOfGeneration(token) ? new byte[0] : tokenizer.bytes(token));
        }
        return constraint.isComplete() ? text.toString(StandardCharsets.UTF_8) : null;
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
