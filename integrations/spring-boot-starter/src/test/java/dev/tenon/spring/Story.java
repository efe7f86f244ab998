package dev.tenon.spring;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tenon.Model;
import dev.tenon.Tenon;
import dev.tenon.TextRequest;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The embedded model. It writes given replies where there are some, one for each generation, so that a small model
/// plays
/// a clever one under the same engine; constraints hold for it, too.
final class Story implements TenonRequestCustomizer {
    static final String FILE = "../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf";
    static final String NAME = "story-qwen3-q4_k_m";
    static final Path ENCODERS = Path.of("../../itest/golden/src/test/resources/golden/models-more");
    static final String ENCODER = ENCODERS.resolve("bert.q8_0.gguf").toString();

    private static final int LONGEST_PIECE = 32;

    private final Tokenizer tokenizer;
    private final Map<String, Integer> pieces = new HashMap<>();
    private final Deque<String> replies = new ArrayDeque<>();
    private final int end;

    Story(Model model) {
        tokenizer = model.loaded().tokenizer();
        end = tokenizer.encode("<|im_end|>", false, true)[0];
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            pieces.putIfAbsent(text(id), id);
        }
    }

    static Model load() {
        return Tenon.model(FILE).contextLength(1024).load();
    }

    /// {@return the text of a call of a tool}
    static String call(String name, String arguments) {
        return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
    }

    /// Sets the replies of the next generations, in place of those that are left.
    void replies(String... texts) {
        replies.clear();
        replies.addAll(List.of(texts));
    }

    @Override
    public void customize(TextRequest request) {
        if (!replies.isEmpty()) {
            request.settings(settings -> settings.sampler(this::sampler));
        }
    }

    private String text(int id) {
        return tokenizer.isControl(id) ? tokenizer.piece(id) : new String(tokenizer.bytes(id), ISO_8859_1);
    }

    private Sampler sampler(SamplingParams params, int vocabularySize) {
        String reply = new String(replies.remove().getBytes(UTF_8), ISO_8859_1);
        StringBuilder heard = new StringBuilder();
        return new Sampler() {
            @Override
            public int sample(float[] logits) {
                int written = Math.min(reply.length(), heard.length());
                while (!reply.startsWith(heard.substring(heard.length() - written))) {
                    written--;
                }
                String rest = reply.substring(written);
                if (rest.isEmpty()) {
                    return end;
                }
                for (int length = Math.min(LONGEST_PIECE, rest.length()); length > 0; length--) {
                    Integer token = pieces.get(rest.substring(0, length));
                    if (token != null && logits[token] != Float.NEGATIVE_INFINITY) {
                        return token;
                    }
                }
                throw new AssertionError("The constraint forbids '" + rest + "' of '" + reply + "'");
            }

            @Override
            public void accept(int token) {
                heard.append(text(token));
            }
        };
    }
}
