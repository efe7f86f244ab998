package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.platform.server.AgentScript.Call;
import dev.tenon.platform.server.RecordingProxy.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Programs of npm that write programs by tools, with a model that plays a clever one. Long because it downloads them.
@Tag("long")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class AgentsTests {
    private static final String TASK = "Write the programs and mend them until each one passes.";

    @TempDir
    Path folder;

    @Test
    void onOpenAisWire() throws Exception {
        Path home = Files.createDirectories(folder.resolve("home/.qwen"));
        Files.writeString(home.resolve("settings.json"), "{\"privacy\": {\"usageStatisticsEnabled\": false}}");
        check(
                true,
                List.of("write_file", "read_file", "edit", "run_shell_command"),
                List.of("@qwen-code/qwen-code@0.15.10", "--omit=optional"),
                List.of("@qwen-code/qwen-code/cli.js", "--auth-type", "openai", "--yolo", "-p", TASK),
                address -> Map.of(
                        "OPENAI_BASE_URL", address + "/v1", "OPENAI_API_KEY", "none", "OPENAI_MODEL", "scripted"));
    }

    @Test
    void onAnthropicsWire() throws Exception {
        check(
                false,
                List.of("Write", "Read", "Edit", "Bash"),
                List.of("@anthropic-ai/claude-code@2.1.197"),
                List.of("@anthropic-ai/claude-code/cli-wrapper.cjs", "--allowedTools=Bash,Read,Edit,Write", "-p", TASK),
                address -> Map.of(
                        "ANTHROPIC_BASE_URL", address,
                        "ANTHROPIC_API_KEY", "none",
                        "ANTHROPIC_MODEL", "scripted",
                        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1",
                        "DISABLE_AUTOUPDATER", "1"));
    }

    private void check(
            boolean tags,
            List<String> tools,
            List<String> packages,
            List<String> line,
            Function<String, Map<String, String>> settings)
            throws Exception {
        Path work = Files.createDirectories(folder.resolve("work")).toRealPath();
        AgentScript script = new AgentScript(work, tags, tools);
        ClientProgram program = new ClientProgram(folder);
        program.install(packages);
        String template = Files.readString(Path.of("src/test/clients/agents", tags ? "tags.jinja" : "json.jinja"));
        try (ScriptedModel model = new ScriptedModel(folder, template, script::reply);
                RecordingProxy proxy = new RecordingProxy(model.server.address())) {
            int status = program.runNode(work, settings.apply(proxy.address()), line);
            for (Answer answer : List.copyOf(proxy.answers)) {
                assertEquals(200, answer.status(), answer::toString);
            }
            assertEquals(0, status, program::output);
            List<Answer> answers = proxy.answers.stream()
                    .filter(answer -> answer.request().startsWith("POST"))
                    .toList();
            assertEquals(script.turns.size() + 1, answers.size(), program::output);
            for (int turn = 0; turn < answers.size(); turn++) {
                String at = "turn " + turn + ": ";
                Reply reply = Reply.of(answers.get(turn).body());
                assertEquals(model.prompt(turn).size(), reply.prompt, at);
                assertEquals(model.cached(turn), reply.cached, at);
                // One of the agents adds a parameter to its edits, which are the fourth of five turns.
                assertTrue(turn == 0 || turn % 5 == 4 || reply.cached == model.inPages(turn - 1), at);
                assertEquals(turn < script.turns.size() ? script.turns.get(turn).calls() : List.of(), reply.calls, at);
            }
            for (int turn = 0; turn < script.turns.size(); turn++) {
                String results = model.text(turn + 1).substring(model.text(turn).length());
                for (String result : script.turns.get(turn).results()) {
                    assertTrue(results.contains(result), () -> result + " is not in " + results);
                }
            }
        }
    }

    /// What a client reads from a stream.
    private record Reply(List<Call> calls, int prompt, int cached) {
        static Reply of(String stream) {
            Map<Integer, String> names = new TreeMap<>();
            Map<Integer, String> arguments = new TreeMap<>();
            int prompt = 0;
            int cached = 0;
            for (JsonNode event : ServerFixture.data(stream)) {
                for (JsonNode call : event.at("/choices/0/delta/tool_calls")) {
                    names.merge(
                            call.get("index").asInt(), call.at("/function/name").asText(), String::concat);
                    arguments.merge(
                            call.get("index").asInt(),
                            call.at("/function/arguments").asText(),
                            String::concat);
                }
                if (event.has("index")) {
                    int index = event.get("index").asInt();
                    names.merge(index, event.at("/content_block/name").asText(), String::concat);
                    arguments.merge(index, event.at("/delta/partial_json").asText(), String::concat);
                }
                JsonNode usage = event.path("usage");
                if (usage.isObject()) {
                    cached = usage.path("cache_read_input_tokens").asInt()
                            + usage.at("/prompt_tokens_details/cached_tokens").asInt();
                    prompt = usage.has("prompt_tokens")
                            ? usage.get("prompt_tokens").asInt()
                            : usage.get("input_tokens").asInt() + cached;
                }
            }
            names.values().removeIf(String::isEmpty); // blocks of text
            List<Call> calls = names.entrySet().stream()
                    .map(each -> new Call(each.getValue(), ServerFixture.json(arguments.get(each.getKey()))))
                    .toList();
            return new Reply(calls, prompt, cached);
        }
    }
}
