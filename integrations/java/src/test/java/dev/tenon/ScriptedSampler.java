package dev.tenon;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Writes given replies, one for each generation, whatever the model would write. So a small model plays a clever one,
/// under the same engine; constraints hold for it, too. Texts are bytes, each a char.
final class ScriptedSampler implements SamplerProvider {
    private static final int LONGEST_PIECE = 32;

    private final Tokenizer tokenizer;
    private final Map<String, Integer> pieces = new HashMap<>();
    private final Deque<String> replies;
    private final int end;

    ScriptedSampler(Tokenizer tokenizer, String... replies) {
        this.tokenizer = tokenizer;
        this.replies = new ArrayDeque<>(List.of(replies));
        this.end = tokenizer.encode("<|im_end|>", false, true)[0];
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            pieces.putIfAbsent(text(id), id);
        }
    }

    private String text(int id) {
        return tokenizer.isControl(id) ? tokenizer.piece(id) : new String(tokenizer.bytes(id), ISO_8859_1);
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        String reply = new String(replies.remove().getBytes(UTF_8), ISO_8859_1);
        StringBuilder heard = new StringBuilder();
        return new Sampler() {
            @Override
            public int sample(float[] logits) {
                String rest = reply.substring(written());
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

            /// How much of the reply is there: also by tokens that nobody sampled, as no other ones were allowed.
            private int written() {
                int length = Math.min(reply.length(), heard.length());
                while (!reply.startsWith(heard.substring(heard.length() - length))) {
                    length--;
                }
                return length;
            }

            @Override
            public void accept(int token) {
                heard.append(text(token));
            }
        };
    }
}
