package dev.tenon.itest.testkit.models;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// Writes replies that a test gives, whatever the model would write: a small model plays a clever one,
/// under the same engine. Constraints hold for it, too; a reply that one forbids fails. Safe for any
/// thread, if what gives replies is.
public final class ScriptedSampler implements SamplerProvider {
    private static final int LONGEST_PIECE = 32;

    private final Tokenizer tokenizer;
    private final Function<String, Optional<String>> replies;
    private final int end;
    /// Tokens by their bytes, each a char, as in all texts below.
    private final Map<String, Integer> pieces = new HashMap<>();

    /// Makes one for a model.
    ///
    /// @param tokenizer the model's
    /// @param end the control token that ends a reply, such as `<|im_end|>`
    /// @param replies gives the reply to a prompt, once for each generation; where there is none the
    ///     model's best tokens are taken. The prompt may already have the beginning of the reply, where a
    ///     constraint left no choice
    /// @throws IllegalArgumentException if there is no such control token
    public ScriptedSampler(Tokenizer tokenizer, String end, Function<String, Optional<String>> replies) {
        this.tokenizer = tokenizer;
        this.replies = replies;
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            pieces.putIfAbsent(text(id), id);
        }
        Integer known = pieces.get(end);
        if (known == null) {
            throw new IllegalArgumentException("the vocabulary has no token " + end);
        }
        this.end = known;
    }

    private String text(int id) {
        return tokenizer.isControl(id) ? tokenizer.piece(id) : new String(tokenizer.bytes(id), ISO_8859_1);
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        return new Script();
    }

    /// One generation.
    private final class Script implements Sampler {
        private final StringBuilder heard = new StringBuilder();
        private boolean asked;
        /// Null where the model's own tokens are taken.
        private String reply;
        /// The tokens as which the tokenizer reads the reply, by where they begin.
        private final Map<Integer, Integer> usual = new HashMap<>();

        @Override
        public int sample(float[] logits) {
            if (!asked) {
                asked = true;
                reply = replies.apply(new String(heard.toString().getBytes(ISO_8859_1), UTF_8))
                        .map(given -> new String(given.getBytes(UTF_8), ISO_8859_1))
                        .orElse(null);
                if (reply != null) {
                    findUsual();
                }
            }
            return reply == null ? best(logits) : next(logits);
        }

        private void findUsual() {
            int from = 0;
            String whole = new String(reply.getBytes(ISO_8859_1), UTF_8);
            for (int token : tokenizer.encode(whole, false, true)) {
                usual.put(from, token);
                from += text(token).length();
            }
        }

        private int next(float[] logits) {
            int written = written();
            String rest = reply.substring(written);
            if (rest.isEmpty()) {
                return end;
            }
            Integer known = usual.get(written);
            if (known != null && rest.startsWith(text(known)) && logits[known] != Float.NEGATIVE_INFINITY) {
                return known;
            }
            for (int length = Math.min(LONGEST_PIECE, rest.length()); length > 0; length--) {
                Integer token = pieces.get(rest.substring(0, length));
                if (token != null && logits[token] != Float.NEGATIVE_INFINITY) {
                    return token;
                }
            }
            throw new AssertionError("The constraint forbids '" + rest + "' of '" + reply + "'");
        }

        /// How much of the reply is there, also by tokens that nobody sampled.
        private int written() {
            int length = Math.min(reply.length(), heard.length());
            while (!reply.startsWith(heard.substring(heard.length() - length))) {
                length--;
            }
            return length;
        }

        private static int best(float[] logits) {
            int best = 0;
            for (int id = 1; id < logits.length; id++) {
                best = logits[id] > logits[best] ? id : best;
            }
            return best;
        }

        @Override
        public void accept(int token) {
            heard.append(text(token));
        }
    }
}
