package dev.tenon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Schemas of Java types, and that every text which they allow is a value.
class JsonSchemaTests {
    private static final int MOST_TOKENS = 1000;
    private static final Set<String> CLOSING = Set.of("\"", "]", "}", ",", ":", "0", "null");

    private enum Color {
        RED,
        GREEN
    }

    private record Numbers(byte a, short b, int c, long d, float e, double f, Integer g, BigInteger h, BigDecimal i) {}

    private record Others(boolean a, char b, String c, Color d, UUID e, Optional<Color> f, Map<String, Integer> g) {}

    private record Times(LocalDate a, LocalTime b, LocalDateTime c, Instant d, OffsetDateTime e, ZonedDateTime f) {}

    private record Lists(int[] a, List<Color> b, Set<Numbers> c, Color[] d) {}

    private record Tree(String name, List<Tree> parts) {}

    private record Left(Optional<Right> right) {}

    private record Right(Optional<Left> left, Tree tree) {}

    @Test
    void aRecordIsAnObjectWithAllItsComponents() {
        @Description("a point")
        record Point(@Description("to the right") int x, Optional<Double> y) {}
        assertEquals("a point", JsonSchema.of(Point.class).get("description"));
        Map<?, ?> properties = (Map<?, ?>) JsonSchema.of(Point.class).get("properties");
        assertEquals("to the right", ((Map<?, ?>) properties.get("x")).get("description"));
        assertEquals(List.of("x", "y"), JsonSchema.of(Point.class).get("required"));
        assertEquals(false, JsonSchema.of(Point.class).get("additionalProperties"));
    }

    /// So Kotlin writes `@JvmRecord data class`, and lists of what may have subclasses.
    @Test
    void whatTheConstructorSaysOfAComponentCounts() {
        record Named(String name, List<? extends Tree> trees) {
            Named(@Description("the first one") String name, List<? extends Tree> trees) {
                this.name = name;
                this.trees = trees;
            }
        }
        Map<?, ?> properties = (Map<?, ?>) JsonSchema.of(Named.class).get("properties");
        assertEquals("the first one", ((Map<?, ?>) properties.get("name")).get("description"));
        assertEquals(
                Map.of("$ref", "#/$defs/" + Tree.class.getTypeName()),
                ((Map<?, ?>) properties.get("trees")).get("items"));
    }

    @Test
    void whatRefersToItselfIsADefinition() {
        Map<String, Object> schema = JsonSchema.of(Tree.class);
        String name = Tree.class.getTypeName();
        assertEquals("#/$defs/" + name, schema.get("$ref"));
        assertEquals(Set.of(name), ((Map<?, ?>) schema.get("$defs")).keySet());
    }

    @ParameterizedTest
    @ValueSource(classes = {Object.class, Thread.class, List.class, Map.class, void.class, java.util.Date.class})
    void otherTypesHaveNone(Class<?> type) {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> JsonSchema.of(type))
                .getMessage()
                .contains(type.getTypeName()));
    }

    /// Texts are drawn at random from the masks of the constraint, so that the model's taste plays no part.
    @ParameterizedTest
    @ValueSource(
            classes = {
                Numbers.class,
                Others.class,
                Times.class,
                Lists.class,
                Tree.class,
                Left.class,
                Color.class,
                int.class
            })
    void everyTextThatTheSchemaAllowsIsAValue(Class<?> type) throws Exception {
        try (Model model = Story.load()) {
            Tokenizer tokenizer = model.loaded().tokenizer();
            TextFormat format = TextFormat.schema(JsonValues.text(JsonSchema.of(type)));
            int whole = 0;
            for (int seed = 0; seed < 40; seed++) {
                String text = drawn(model.chatModel().constraint(format).orElseThrow(), tokenizer, seed);
                if (text != null) {
                    whole++;
                    Object value = JsonValues.read(text, type);
                    JsonValues.text(value);
                }
            }
            assertTrue(whole > 5, whole + " whole texts of " + type);
        }
    }

    /// {@return a random text, or null if it does not end}
    private static String drawn(TokenConstraint constraint, Tokenizer tokenizer, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        long[] mask = new long[(tokenizer.vocabularySize() + 63) / 64];
        for (int i = 0; i < MOST_TOKENS; i++) {
            if (constraint.isEnded()) {
                return text.toString(StandardCharsets.UTF_8);
            }
            constraint.mask(mask);
            int[] allowed = BitSet.valueOf(mask).stream().toArray();
            int[] closing = IntStream.of(allowed)
                    .filter(id -> tokenizer.isEndOfGeneration(id) || CLOSING.contains(tokenizer.piece(id)))
                    .toArray();
            int[] from = random.nextInt(MOST_TOKENS / 4) < i && closing.length > 0 ? closing : allowed;
            int token = from[random.nextInt(from.length)];
            if (tokenizer.isEndOfGeneration(token)) {
                return text.toString(StandardCharsets.UTF_8);
            }
            text.writeBytes(tokenizer.bytes(token));
            constraint.accept(token);
        }
        return null;
    }
}
