package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.api.text.ConstraintProvider;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenConstraint;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Samplers, logits processors and constraints of bundles, chosen by a request.
class RuleFieldsTests {
    private static final String CHAT = "/v1/chat/completions";
    private static final String TEXT = "/v1/completions";

    private static ServerFixture server;

    /// `only=TEXT`: the first token of the text, again and again.
    private static final class Only implements LogitsProcessorProvider {
        @Override
        public String id() {
            return "only";
        }

        @Override
        public LogitsProcessor create(String argument, Tokenizer tokenizer) {
            int token = tokenizer.encode(argument, false, false)[0];
            return (history, logits) -> {
                Arrays.fill(logits, Float.NEGATIVE_INFINITY);
                logits[token] = 0;
            };
        }
    }

    /// `times=N`: the token "a" N times, then the end.
    private static final class Times implements ConstraintProvider {
        @Override
        public String id() {
            return "times";
        }

        @Override
        public TokenConstraint create(String argument, Tokenizer tokenizer) {
            if (!argument.matches("\\d+")) {
                throw new IllegalArgumentException("'" + argument + "' is no number");
            }
            return new Left(tokenizer.encode("a", false, false)[0], Integer.parseInt(argument));
        }
    }

    private static final class Left implements TokenConstraint {
        private final int token;
        private int left;

        Left(int token, int left) {
            this.token = token;
            this.left = left;
        }

        @Override
        public void mask(long[] words) {
            Arrays.fill(words, 0);
            words[token / 64] = 1L << token % 64;
        }

        @Override
        public void accept(int accepted) {
            left--;
        }

        @Override
        public boolean isComplete() {
            return left == 0;
        }

        @Override
        public boolean isEnded() {
            return left == 0;
        }

        @Override
        public TokenConstraint copy() {
            return new Left(token, left);
        }
    }

    /// `always=TEXT`: the first token of the text, if nothing masks it.
    private static final class Always implements SamplerProvider {
        @Override
        public String id() {
            return "always";
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize) {
            throw new IllegalArgumentException("name a text");
        }

        @Override
        public Sampler create(SamplingParams params, int vocabularySize, String argument, Tokenizer tokenizer) {
            if (argument.isEmpty()) {
                return create(params, vocabularySize);
            }
            int token = tokenizer.encode(argument, false, false)[0];
            return new Sampler() {
                @Override
                public int sample(float[] logits) {
                    return token;
                }

                @Override
                public void accept(int accepted) {}
            };
        }
    }

    @BeforeAll
    static void start() {
        server = new ServerFixture();
        ((StandaloneEngine) server.engine).installProviders(new Only(), new Times(), new Always());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String chat(String more) {
        return """
                {"model":"story","messages":[{"role":"user","content":"Hello"}],"max_tokens":4,"n":2%s}""".formatted(more);
    }

    private static String text(String more) {
        return """
                {"model":"story","prompt":"Once","max_tokens":9,"n":2%s}""".formatted(more);
    }

    @Test
    void eachReplyHasTheProcessors() throws Exception {
        for (JsonNode choice :
                server.answer(CHAT, chat(",\"logits_processors\":[\"only=b\"]")).get("choices")) {
            assertEquals("bbbb", choice.get("message").get("content").asText());
        }
    }

    @Test
    void eachReplyHasTheConstraint() throws Exception {
        JsonNode answer = server.answer(TEXT, text(",\"constraint\":\"times=3\""));
        for (JsonNode choice : answer.get("choices")) {
            assertEquals("aaa", choice.get("text").asText());
            assertEquals("stop", choice.get("finish_reason").asText());
        }
    }

    @Test
    void eachReplyHasTheSampler() throws Exception {
        for (JsonNode choice :
                server.answer(CHAT, chat(",\"sampler\":\"always=c\"")).get("choices")) {
            assertEquals("cccc", choice.get("message").get("content").asText());
        }
        for (JsonNode choice :
                server.answer(TEXT, text(",\"sampler\":\"always=c\"")).get("choices")) {
            assertEquals("ccccccccc", choice.get("text").asText());
        }
        JsonNode answer = server.answer("/api/generate", """
                {"model":"story","prompt":"Once","raw":true,"stream":false,"options":{"num_predict":3,"sampler":"always=c"}}""");
        assertEquals("ccc", answer.get("response").asText());
        answer = server.answer("/completion", """
                {"prompt":"Once","n_predict":3,"sampler":"always=c"}""");
        assertEquals("ccc", answer.get("content").asText());
    }

    @Test
    void whatIsNotThereIsRefusedWithWhatIs() throws Exception {
        JsonNode error = server.error(400, CHAT, chat(",\"logits_processors\":[\"other\"]"));
        assertEquals("logits_processors", error.get("param").asText());
        assertEquals(
                "There is no logits processor 'other'; there are only.",
                error.get("message").asText());
        error = server.error(400, CHAT, chat(",\"sampler\":\"other\""));
        assertEquals("sampler", error.get("param").asText());
        assertEquals(
                "There is no sampler 'other'; there are always.",
                error.get("message").asText());
        error = server.error(400, TEXT, text(",\"constraint\":\"other=1\""));
        assertEquals("constraint", error.get("param").asText());
        assertEquals(
                "There is no constraint 'other'; there are times.",
                error.get("message").asText());
    }

    @Test
    void aWrongArgumentIsRefusedWithItsReason() throws Exception {
        String message = server.error(400, TEXT, text(",\"constraint\":\"times=x\""))
                .get("message")
                .asText();
        assertEquals("The constraint 'times' refuses its argument: 'x' is no number.", message);
        message = server.error(400, CHAT, chat(",\"stream\":true,\"sampler\":\"always\""))
                .get("message")
                .asText();
        assertEquals("The sampler 'always' refuses its argument: name a text.", message);
        server.error(400, TEXT, text(",\"sampler\":5"));
        server.error(400, TEXT, text(",\"constraint\":5"));
        server.error(400, TEXT, text(",\"logits_processors\":[5]"));
    }

    @Test
    void aReplyHasOneConstraint() throws Exception {
        String message = server.error(
                        400, CHAT, chat(",\"constraint\":\"times=3\",\"response_format\":{\"type\":\"json_object\"}"))
                .get("message")
                .asText();
        assertTrue(message.startsWith("A reply has one constraint"), message);
    }
}
