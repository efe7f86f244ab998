package dev.tenon.langchain4j;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/// Gives the reply of the first rule whose pattern is found in the prompt.
///
/// A file of rules has a pattern in one line and the reply in the next one, where `\n` is a line's end and
/// `CALL name arguments` a call; empty lines between. The property `tenon.rules.print` prints the prompts.
final class Rules implements Function<String, Optional<String>> {
    private static final String ANSWER = "<|im_start|>assistant\n";
    private static final Pattern CALL = Pattern.compile("CALL (\\w+) (\\{.*?})(?=\\\\n|$)");

    private final List<Rule> rules = new ArrayList<>();

    private record Rule(Pattern pattern, String reply) {}

    Rules(String file) {
        for (String block : read(file).strip().split("\n\n+")) {
            String[] lines = block.split("\n");
            String reply = CALL.matcher(lines[1])
                    .replaceAll("<tool_call>\\\\n{\"name\": \"$1\", \"arguments\": $2}\\\\n</tool_call>")
                    .replace("\\n", "\n");
            rules.add(new Rule(Pattern.compile(lines[0], Pattern.DOTALL), reply));
        }
    }

    private static String read(String file) {
        try (InputStream in = Rules.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Optional<String> apply(String heard) {
        // What follows is the beginning of the reply, where a constraint left no choice.
        String prompt = heard.substring(0, heard.lastIndexOf(ANSWER) + ANSWER.length());
        if (Boolean.getBoolean("tenon.rules.print")) {
            System.out.println("PROMPT " + prompt);
        }
        return rules.stream()
                .filter(rule -> rule.pattern().matcher(prompt).find())
                .map(Rule::reply)
                .findFirst();
    }
}
