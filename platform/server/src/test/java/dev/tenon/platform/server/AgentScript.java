package dev.tenon.platform.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// What a clever model would do: it writes programs with a mistake each, runs them, reads, edits and runs them again.
final class AgentScript {
    private static final int ROUNDS = 6;
    /// What JSON, tags, templates and shells could stumble over.
    private static final String HARD = "\"'`$\\n\t</tool_call>\u00e9\u20ac\ud83d\ude00 {{ }} <b>&amp;</b>";

    final List<Turn> turns = new ArrayList<>();
    private final boolean tags;

    /// @param results what the next prompt has to hold behind this turn
    record Turn(List<Call> calls, List<String> results) {}

    record Call(String name, JsonNode arguments) {}

    /// @param tags whether calls are written as tags for each parameter, else as JSON
    /// @param names what the agent calls the tools that write, read, edit and run
    AgentScript(Path folder, boolean tags, List<String> names) {
        this.tags = tags;
        for (int round = 1; round <= ROUNDS; round++) {
            String program = folder.resolve("sum" + round + ".mjs").toString();
            int cases = round < ROUNDS ? 10 * round : 300;
            Call run = call(names.get(3), "command", "node " + program, "description", "Runs the program");
            Call read = call(names.get(1), "file_path", program);
            turn(List.of(call(names.get(0), "file_path", program, "content", program(round, cases))), program);
            turn(List.of(run), "FAILED " + round + ": found -1");
            turn(List.of(read, run), "=> a - b;", "case " + cases + " of");
            turn(
                    List.of(call(names.get(2), "file_path", program, "old_string", "a - b", "new_string", "a + b")),
                    program);
            turn(List.of(read, run, read), "=> a + b;", "PASSED " + round);
        }
    }

    private static String program(int round, int cases) {
        return """
                /* %s */
                const hard = %s;
                const sum = (a, b) => a - b;
                for (let i = 1; i <= %d; i++) {
                  console.log(`case ${i} of sum %d: ${i} and ${i + 1} make ${sum(i, i + 1)}`);
                }
                console.log(sum(1, 2) === 3 ? 'PASSED %d' : 'FAILED %d: found ' + sum(1, 2));
                process.exitCode = sum(1, 2) === 3 ? 0 : 1;
                """.formatted(HARD, JsonNodeFactory.instance.textNode(HARD), cases, round, round, round);
    }

    private void turn(List<Call> calls, String... results) {
        turns.add(new Turn(calls, List.of(results)));
    }

    private static Call call(String name, String... arguments) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        for (int i = 0; i < arguments.length; i += 2) {
            object.put(arguments[i], arguments[i + 1]);
        }
        return new Call(name, object);
    }

    /// {@return what the model writes in a turn, from 0}
    String reply(int turn) {
        if (turn >= turns.size()) {
            return "All pass.";
        }
        return "Turn %d.\n".formatted(turn + 1)
                + turns.get(turn).calls().stream()
                        .map(call -> "<tool_call>\n" + (tags ? tagged(call) : json(call)) + "\n</tool_call>")
                        .collect(Collectors.joining("\n"));
    }

    private static String json(Call call) {
        return "{\"name\": \"" + call.name() + "\", \"arguments\": {"
                + call.arguments().properties().stream()
                        .map(each -> "\"" + each.getKey() + "\": " + each.getValue())
                        .collect(Collectors.joining(", "))
                + "}}";
    }

    private static String tagged(Call call) {
        return call.arguments().properties().stream()
                .map(each ->
                        "<parameter=" + each.getKey() + ">\n" + each.getValue().asText() + "\n</parameter>\n")
                .collect(Collectors.joining("", "<function=" + call.name() + ">\n", "</function>"));
    }
}
