package dev.tenon.langchain4j;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// Writes the reply of the first rule whose pattern is found in the prompt; with no rule, what the model finds best. So
/// a small model plays a clever one, under the same engine; constraints hold for it, too. Texts are bytes, each a char.
///
/// A file of rules has a pattern in one line and the reply in the next one, where `\n` is a line's end and
/// `CALL name arguments` a call; empty lines between. The property `tenon.rules.print` prints the prompts.
final class RuleSampler implements SamplerProvider {
    private static final int LONGEST_PIECE = 32;
    private static final String ANSWER = "<|im_start|>assistant\n";
    private static final Pattern CALL = Pattern.compile("CALL (\\w+) (\\{.*?})(?=\\\\n|$)");

    private final Tokenizer tokenizer;
    private final Map<String, Integer> pieces = new HashMap<>();
    private final List<Rule> rules = new ArrayList<>();
    private final int end;

    private record Rule(Pattern pattern, String reply) {}

    RuleSampler(Tokenizer tokenizer, String file) {
        this.tokenizer = tokenizer;
        this.end = tokenizer.encode("<|im_end|>", false, true)[0];
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            pieces.putIfAbsent(text(id), id);
        }
        for (String block : read(file).strip().split("\n\n+")) {
            String[] lines = block.split("\n");
            String reply = CALL.matcher(lines[1])
                    .replaceAll("<tool_call>\\\\n{\"name\": \"$1\", \"arguments\": $2}\\\\n</tool_call>")
                    .replace("\\n", "\n");
            rules.add(new Rule(Pattern.compile(lines[0], Pattern.DOTALL), reply));
        }
    }

    private static String read(String file) {
        try (InputStream in = RuleSampler.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String text(int id) {
        return tokenizer.isControl(id) ? tokenizer.piece(id) : new String(tokenizer.bytes(id), ISO_8859_1);
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        StringBuilder heard = new StringBuilder();
        return new Sampler() {
            private int answer = -1;
            private String reply;

            @Override
            public int sample(float[] logits) {
                if (answer < 0) {
                    answer = heard.lastIndexOf(ANSWER) + ANSWER.length();
                    reply = reply(heard.substring(0, answer));
                }
                if (reply == null) {
                    return best(logits);
                }
                String written = heard.substring(answer);
                if (!reply.startsWith(written)) {
                    throw new AssertionError("'" + written + "' is not the beginning of '" + reply + "'");
                }
                String rest = reply.substring(written.length());
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

    private static int best(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            best = logits[i] > logits[best] ? i : best;
        }
        return best;
    }

    /// {@return the reply to a prompt; null if no rule has one}
    private String reply(String prompt) {
        String text = new String(prompt.getBytes(ISO_8859_1), UTF_8);
        if (Boolean.getBoolean("tenon.rules.print")) {
            System.out.println("PROMPT " + text);
        }
        return rules.stream()
                .filter(rule -> rule.pattern().matcher(text).find())
                .map(rule -> new String(rule.reply().getBytes(UTF_8), ISO_8859_1))
                .findFirst()
                .orElse(null);
    }
}
