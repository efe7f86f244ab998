package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.chat.ChatPrompt;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.platform.core.StandaloneEngine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReasoningBudgetTests {
    private static final Path MODEL = Path.of("../launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    /// Replies begin inside their reasoning.
    private static final String OPENED = "{% for m in messages %}{{ m.content }}{% endfor %}<think>";
    /// They may begin with it.
    private static final String SHOWN = "{% for m in messages %}{{ m.content }}{% endfor %}{# <think> </think> #}";
    private static final String HARMONY = "{% for m in messages %}{{ m.content }}{% endfor %}<|start|>assistant"
            + "{# <|channel|>analysis<|message|> #}";

    private static Engine engine;
    private static LoadedModel model;

    @BeforeAll
    static void load() {
        engine = StandaloneEngine.create(Map.of());
        model = engine.load(LoadRequest.builder(MODEL).contextLength(512).build());
    }

    @AfterAll
    static void close() {
        model.close();
        engine.close();
    }

    private static ChatModel chat(String template) {
        return TemplateModel.chat(model, Map.of("", template));
    }

    private static ChatRequest.Builder request(int budget) {
        return ChatRequest.of("Once upon a time").toBuilder()
                .reasoningBudget(budget)
                .reasoningMessage(" So be it.");
    }

    private static GenerationRequest settings(int logProbabilities) {
        return GenerationRequest.builder()
                .sampling(SamplingParams.greedy())
                .logProbabilities(logProbabilities)
                .maxNewTokens(40)
                .build();
    }

    /// Without log-probabilities the closing tokens are forced, with them they are sampled under a mask.
    @ParameterizedTest
    @ValueSource(ints = {-1, 0})
    void reasoningEndsAfterItsTokensAndTheAnswerFollows(int logProbabilities) {
        ChatModel chat = chat(OPENED);
        ChatReply endless = chat.ask(request(-1).build(), settings(-1));
        assertEquals("", endless.text(), "the model of stories never ends its thoughts");
        for (int budget : new int[] {0, 1, 7}) {
            ChatReply reply = chat.ask(request(budget).build(), settings(logProbabilities));
            int[] thought = Arrays.copyOf(model.tokenizer().encode(endless.reasoning(), false, false), budget);
            assertEquals(model.tokenizer().decode(thought) + " So be it.", reply.reasoning());
            assertFalse(reply.text().isBlank(), "an answer after " + budget);
        }
        ChatReply without = chat.ask(request(3).reasoningMessage("").build(), settings(logProbabilities));
        assertTrue(endless.reasoning().startsWith(without.reasoning()), without.reasoning());
    }

    @Test
    void anAnswerOfAFormatFollowsReasoningOfABudget() {
        ChatRequest request = request(5)
                .format(TextFormat.schema("{\"enum\":[\"yes\",\"no\"]}"))
                .build();
        ChatReply reply = chat(OPENED).ask(request, settings(-1));
        assertTrue(reply.reasoning().endsWith(" So be it."), reply.reasoning());
        assertTrue(List.of("\"yes\"", "\"no\"").contains(reply.text()), reply.text());
    }

    private static TokenConstraint budget(String template, int tokens) {
        ChatModel chat = chat(template);
        ChatRequest request = request(tokens).build();
        ChatPrompt prompt = chat.prompt(request);
        return chat.constraint(request, prompt).orElseThrow();
    }

    private static void write(TokenConstraint constraint, String text) {
        for (int token : model.tokenizer().encode(text, false, true)) {
            constraint.accept(token);
        }
    }

    private static boolean closes(TokenConstraint constraint) {
        return constraint.forced().length > 0;
    }

    @Test
    void onlyReasoningAtTheBeginningCounts() {
        TokenConstraint answer = budget(SHOWN, 2);
        assertEquals(2, answer.unmasked());
        write(answer, "An answer tells of <think> and other marks, and of much more.");
        assertFalse(closes(answer));
        assertEquals(Integer.MAX_VALUE, answer.unmasked());
        TokenConstraint opened = budget(SHOWN, 2);
        write(opened, "\n<think>");
        assertEquals(2, opened.unmasked());
        TokenConstraint other = opened.copy();
        write(opened, "Hm</think> yes, and so on for a long time");
        assertFalse(closes(opened), "it ended by itself");
        write(other, "Hm, hm, hm");
        assertTrue(closes(other));
        assertEquals(0, other.unmasked());
        long[] mask = new long[(model.config().vocabularySize() + 63) / 64];
        other.mask(mask);
        assertEquals(1, Arrays.stream(mask).map(Long::bitCount).sum());
        assertTrue((mask[other.forced()[0] / 64] >>> other.forced()[0] & 1) == 1);
    }

    @Test
    void aCharacterIsNotCutInTwo() {
        TokenConstraint constraint = budget(OPENED, 1);
        int[] bytes = new int[3];
        byte[] character = "ꒌ".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            byte each = character[i];
            bytes[i] = IntStream.range(0, model.config().vocabularySize())
                    .filter(id -> Arrays.equals(model.tokenizer().bytes(id), new byte[] {each}))
                    .findFirst()
                    .orElseThrow();
        }
        constraint.accept(bytes[0]);
        constraint.accept(bytes[1]);
        assertFalse(closes(constraint));
        constraint.accept(bytes[2]);
        assertTrue(closes(constraint));
    }

    @Test
    void reasoningInChannelsEndsAndDoesNotBeginAgain() {
        TokenConstraint constraint = budget(HARMONY, 3);
        write(constraint, "<|channel|>analysis<|message|>");
        assertFalse(closes(constraint));
        write(constraint, "one two three four");
        int[] closing = constraint.forced();
        String closed = model.tokenizer().decode(closing);
        assertTrue(closed.endsWith("<|end|><|start|>assistant"), closed);
        IntStream.of(closing).forEach(constraint::accept);
        assertFalse(closes(constraint));
        int[] opening = model.tokenizer().encode("<|channel|>analysis", false, true);
        constraint.accept(opening[0]);
        long[] mask = new long[(model.config().vocabularySize() + 63) / 64];
        constraint.mask(mask);
        assertEquals(0, mask[opening[1] / 64] >>> opening[1] & 1);
        assertEquals(0, constraint.unmasked());
    }

    @Test
    void anotherNumberIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> request(-2));
    }
}
