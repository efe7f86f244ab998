package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.grammar.Grammar;
import dev.tenon.platform.grammar.mask.TokenVocabulary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Tokens drawn at random from the masks of forced calls come out of the parser as calls that satisfy the schemas.
class ForcedCallTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    private static final int MOST_TOKENS = 400;
    private static final List<Map<String, Object>> TOOLS =
            List.of(tool("time", """
                    {"type":"object","required":["zone","day"],"properties":{
                     "zone":{"type":"string","enum":["UTC","CET"]},"day":{"$ref":"#/$defs/day"},
                     "note":{"type":"string","maxLength":6},"at":{"type":"string","pattern":"^[0-2]:[0-5]$"}},
                     "$defs":{"day":{"type":"integer","minimum":1,"maximum":31}}}"""), tool("now", "{\"type\":\"object\",\"properties\":{}}"));

    private static Engine engine;
    private static LoadedModel model;
    private static TokenVocabulary vocabulary;

    private static Map<String, Object> tool(String name, String schema) {
        return Map.of(
                "type", "function", "function", Map.of("name", name, "parameters", Json.plain(Json.parse(schema))));
    }

    @BeforeAll
    static void load() {
        engine = StandaloneEngine.create(Map.of());
        model = engine.load(LoadRequest.builder(MODEL).contextLength(512).build());
        vocabulary = new TokenVocabulary(model.tokenizer());
    }

    @AfterAll
    static void close() {
        model.close();
        engine.close();
    }

    private static TemplateFormat format(CallFormat calls) {
        return new TemplateFormat(new ReplyFormat(calls, Reasoning.THINK), true, true);
    }

    /// {@return a request that forces calls}
    ///
    /// @param name the tool; null for any, and any number of calls
    private static ChatRequest request(String name, List<Map<String, Object>> tools) {
        List<Tool> offered = new ArrayList<>();
        for (Map<String, Object> tool : tools) {
            Map<String, Object> function = TemplateValues.copy(tool.get("function"));
            offered.add(new Tool((String) function.get("name"), "", TemplateValues.copy(function.get("parameters"))));
        }
        return ChatRequest.builder()
                .tools(offered)
                .toolChoice(name == null ? ToolChoice.REQUIRED : ToolChoice.named(name))
                .build();
    }

    /// {@return the reply to a prompt that forces calls, of random tokens; null if it does not end}
    private static CollectedReply walk(CallFormat calls, ChatRequest request, String prompt, int seed) {
        return walk(calls, request, prompt, seed, vocabulary);
    }

    private static CollectedReply walk(
            CallFormat calls, ChatRequest request, String prompt, int seed, TokenVocabulary vocabulary) {
        TemplateFormat format = format(calls);
        Grammar grammar = new ReplyGrammar().of(request, format, format.thinks(prompt), vocabulary);
        TokenConstraint constraint = grammar.constraint(vocabulary);
        Tokenizer tokenizer = vocabulary.tokenizer();
        CollectedReply reply = new CollectedReply();
        ReplyParser parser = ReplyParser.of(format, prompt, TOOLS, reply);
        StreamDecoder decoder = tokenizer.decoder();
        SplittableRandom random = new SplittableRandom(seed);
        long[] mask = new long[vocabulary.words()];
        for (int i = 0; i < MOST_TOKENS && !constraint.isEnded(); i++) {
            int[] forced = constraint.forced();
            constraint.mask(mask);
            int token = forced.length > 0 ? forced[0] : draw(mask, random, tokenizer);
            constraint.accept(token);
            boolean ends = tokenizer.isEndOfGeneration(token);
            if (!ends && tokenizer.isControl(token)) {
                parser.marker(tokenizer.piece(token));
            }
            String text = decoder.next(token);
            if (!ends && !text.isEmpty()) {
                parser.text(text);
            }
        }
        parser.finish();
        assertTrue(!constraint.isComplete() || parser.calls() == reply.calls().size(), calls::toString);
        return constraint.isComplete() ? reply : null;
    }

    private static int draw(long[] mask, SplittableRandom random, Tokenizer tokenizer) {
        List<Integer> allowed = new ArrayList<>();
        for (int word = 0; word < mask.length; word++) {
            for (long bits = mask[word]; bits != 0; bits &= bits - 1) {
                allowed.add(64 * word + Long.numberOfTrailingZeros(bits));
            }
        }
        // Now and then what ends things, which is one of thousands.
        if (random.nextInt(4) == 0) {
            return allowed.stream().filter(tokenizer::isControl).findFirst().orElse(allowed.getLast());
        }
        return allowed.get(random.nextInt(allowed.size()));
    }

    private static void requireSatisfied(Object format, CollectedReply.Call call) {
        JsonNode arguments = Json.parse(call.arguments().toString());
        assertTrue(arguments != null && arguments.isObject(), () -> format + ": " + call);
        Set<String> keys = new TreeSet<>();
        arguments.fieldNames().forEachRemaining(keys::add);
        if (call.name().equals("now")) {
            return;
        }
        assertEquals("time", call.name());
        assertTrue(Set.of("zone", "day", "note", "at").containsAll(keys), () -> format + ": " + call);
        assertTrue(keys.containsAll(Set.of("zone", "day")), () -> format + ": " + call);
        assertTrue(Set.of("UTC", "CET").contains(arguments.get("zone").asText()), call::toString);
        assertTrue(arguments.get("day").isIntegralNumber(), call::toString);
        assertTrue(1 <= arguments.get("day").asInt() && arguments.get("day").asInt() <= 31, call::toString);
        assertTrue(!arguments.has("at") || arguments.get("at").asText().matches("[0-2]:[0-5]"), call::toString);
        String note = arguments.path("note").asText();
        assertTrue(note.codePointCount(0, note.length()) <= 6, call::toString);
    }

    @ParameterizedTest
    @EnumSource(KnownFormat.class)
    void forcedCallsSatisfyTheirSchemas(KnownFormat format) {
        int whole = 0;
        int several = 0;
        for (int seed = 0; seed < 16; seed++) {
            boolean thinking = seed % 2 == 1 && format != KnownFormat.CHANNELS;
            CollectedReply reply = walk(format.calls(), request(null, TOOLS), thinking ? "<think>\n" : "", seed);
            if (reply != null) {
                whole++;
                several += reply.calls().size() > 1 ? 1 : 0;
                assertTrue(!reply.calls().isEmpty());
                assertEquals("", reply.content());
                reply.calls().forEach(call -> requireSatisfied(format, call));
            }
        }
        assertTrue(whole > 2, whole + " replies came to an end");
        assertEquals(format.calls().between().isPresent(), several > 0, several + " replies had several calls");
    }

    @ParameterizedTest
    @EnumSource(KnownFormat.class)
    void aNamedToolIsCalledOnce(KnownFormat format) {
        int whole = 0;
        for (int seed = 0; seed < 8; seed++) {
            CollectedReply reply = walk(format.calls(), request("now", TOOLS), "", seed);
            if (reply != null) {
                whole++;
                assertEquals(1, reply.calls().size());
                assertEquals("now", reply.calls().getFirst().name());
            }
        }
        assertTrue(whole > 2, whole + " replies came to an end");
    }

    @ParameterizedTest
    @MethodSource("dev.tenon.platform.chat.OfferedFormatTests#formats")
    void formatsOfBundlesAreForced(CallFormat format) {
        int several = 0;
        int whole = 0;
        for (int seed = 0; seed < 16; seed++) {
            CollectedReply reply = walk(format, request(null, TOOLS), seed % 2 == 1 ? "<think>\n" : "", seed);
            if (reply != null) {
                whole++;
                several += reply.calls().size() > 1 ? 1 : 0;
                assertEquals("", reply.content());
                reply.calls().forEach(call -> requireSatisfied(format, call));
            }
        }
        assertTrue(whole > 2 && several > 0, whole + " replies came to an end, " + several + " had several calls");
    }

    /// A vocabulary in which some tokens are control tokens with names of their own.
    private record WithControls(Tokenizer other, List<String> names) implements Tokenizer {
        private static final int FIRST = 1000;

        private boolean isNamed(int id) {
            return id >= FIRST && id < FIRST + names.size();
        }

        @Override
        public int vocabularySize() {
            return other.vocabularySize();
        }

        @Override
        public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
            return other.encode(text, addSpecial, parseSpecial);
        }

        @Override
        public byte[] bytes(int id) {
            return isNamed(id) ? new byte[0] : other.bytes(id);
        }

        @Override
        public String piece(int id) {
            return isNamed(id) ? names.get(id - FIRST) : other.piece(id);
        }

        @Override
        public StreamDecoder decoder() {
            StreamDecoder decoder = other.decoder();
            return new StreamDecoder() {
                @Override
                public String next(int id) {
                    return isNamed(id) ? "" : decoder.next(id);
                }

                @Override
                public String finish() {
                    return decoder.finish();
                }
            };
        }

        @Override
        public boolean isEndOfGeneration(int id) {
            return other.isEndOfGeneration(id);
        }

        @Override
        public boolean isControl(int id) {
            return isNamed(id) || other.isControl(id);
        }

        @Override
        public OptionalInt bos() {
            return other.bos();
        }

        @Override
        public OptionalInt eos() {
            return other.eos();
        }

        @Override
        public boolean addsBos() {
            return other.addsBos();
        }
    }

    @ParameterizedTest
    @EnumSource(KnownFormat.class)
    void marksThatAreControlTokensAreWrittenAsSuch(KnownFormat format) {
        List<String> names = new ArrayList<>(format.calls().marks());
        names.removeIf(each -> each.startsWith("`"));
        names.add("</think>");
        names.addAll(List.of("<|message|>", "<|constrain|>", "<|start|>", "<|end|>"));
        TokenVocabulary named = new TokenVocabulary(new WithControls(model.tokenizer(), names));
        int whole = 0;
        for (int seed = 0; seed < 8; seed++) {
            CollectedReply reply = walk(format.calls(), request("now", TOOLS), "<think>", seed, named);
            if (reply != null) {
                whole++;
                assertEquals("", reply.content());
                assertEquals("now", reply.calls().getFirst().name());
            }
        }
        assertTrue(whole > 2, whole + " replies came to an end");
    }

    @Test
    void whatCannotBeWrittenIsRefused() {
        ReplyGrammar grammars = new ReplyGrammar();
        for (String schema : List.of(
                "{\"type\":\"object\",\"properties\":{\"a>b\":{\"type\":\"string\"}}}",
                "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"format\":\"hexagon\"}}}")) {
            assertThrows(
                    ChatException.class,
                    () -> grammars.of(
                            request(null, List.of(tool("a", schema))),
                            format(KnownFormat.FUNCTION.calls()),
                            false,
                            vocabulary));
        }
    }
}
