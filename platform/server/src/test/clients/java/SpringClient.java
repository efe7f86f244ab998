import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.openai.OpenAiEmbeddingModel;
import org.springframework.ai.openai.OpenAiEmbeddingOptions;
import org.springframework.ai.tool.function.FunctionToolCallback;

/// Asks a server by Spring AI's client of OpenAI. Argument: its address.
final class SpringClient {
    private static final String ZONES = """
            {"type":"object","properties":{"zone":{"enum":["UTC","CET"]}},"required":["zone"],
             "additionalProperties":false}""";
    private static final String FOX = """
            {"type":"object","properties":{"colour":{"enum":["red","grey"]},"clever":{"type":"boolean"}},
             "required":["colour","clever"],"additionalProperties":false}""";

    private static OpenAiChatOptions.Builder ask(String address, String key) {
        return OpenAiChatOptions.builder()
                .baseUrl(address + "/v1")
                .apiKey(key)
                .maxRetries(0)
                .model(Checks.MODEL)
                .temperature(0.0)
                .maxTokens(8);
    }

    private static Prompt prompt(OpenAiChatOptions.Builder options) {
        return new Prompt(Checks.QUESTION, options.build());
    }

    private static Prompt promptWithTool(OpenAiChatOptions.Builder options) {
        return prompt(options.maxTokens(200)
                .parallelToolCalls(false)
                .toolChoice("required")
                .toolCallbacks(FunctionToolCallback.builder("time", (Map<String, Object> zone) -> "noon")
                        .description("Tells the time")
                        .inputType(Map.class)
                        .inputSchema(ZONES)
                        .build()));
    }

    private static void requireCall(List<AssistantMessage.ToolCall> calls) {
        Checks.equal(1, calls.size());
        Checks.equal("time", calls.getFirst().name());
        Checks.that(calls.getFirst().arguments().matches("\\{\\s*\"zone\": ?\"(UTC|CET)\"\\s*}"), calls);
    }

    private static String text(List<ChatResponse> chunks) {
        StringBuilder text = new StringBuilder();
        for (ChatResponse chunk : chunks) {
            if (chunk.getResult() != null && chunk.getResult().getOutput().getText() != null) {
                text.append(chunk.getResult().getOutput().getText());
            }
        }
        return text.toString();
    }

    public static void main(String[] args) {
        Checks checks = new Checks();
        String address = args[0];
        OpenAiChatModel model = OpenAiChatModel.builder()
                .options(ask(address, "key").build())
                .build();
        checks.check("chat", () -> {
            ChatResponse answer =
                    model.call(prompt(ask(address, "key").n(2).logprobs(true).topLogprobs(2)));
            Checks.equal(2, answer.getResults().size());
            Checks.that(!answer.getResult().getOutput().getText().isEmpty(), answer);
            Checks.equal(16, answer.getMetadata().getUsage().getCompletionTokens());
        });
        checks.check("stream", () -> {
            String plain = model.call(prompt(ask(address, "key")))
                    .getResult()
                    .getOutput()
                    .getText();
            List<ChatResponse> chunks =
                    model.stream(prompt(ask(address, "key"))).collectList().block(Duration.ofMinutes(1));
            Checks.equal(plain, text(chunks));
        });
        checks.check("tools", () -> requireCall(model.call(promptWithTool(ask(address, "key")))
                .getResult()
                .getOutput()
                .getToolCalls()));
        checks.check("tools, stream", () -> {
            List<ChatResponse> chunks = model.stream(promptWithTool(ask(address, "key")))
                    .collectList()
                    .block(Duration.ofMinutes(1));
            requireCall(chunks.stream()
                    .filter(chunk -> chunk.getResult() != null)
                    .flatMap(chunk -> chunk.getResult().getOutput().getToolCalls().stream())
                    .toList());
        });
        checks.check("schema", () -> {
            String text = model.call(prompt(ask(address, "key").maxTokens(200).outputSchema(FOX)))
                    .getResult()
                    .getOutput()
                    .getText();
            Checks.that(text.matches("(?s)\\{\\s*\"colour\":.*\"clever\":.*}"), text);
        });
        checks.check("embeddings", () -> {
            OpenAiEmbeddingOptions.Builder options = new OpenAiEmbeddingOptions.Builder();
            options.baseUrl(address + "/v1");
            options.apiKey("key");
            options.model(Checks.MODEL);
            var vectors = OpenAiEmbeddingModel.builder()
                    .options(options.build())
                    .build()
                    .embed(List.of("a fox", "the sea"));
            Checks.equal(2, vectors.size());
            Checks.equal(512, vectors.get(1).length);
        });
        checks.check("errors", () -> {
            Checks.fails(
                    NotFoundException.class,
                    () -> model.call(prompt(ask(address, "key").model("other"))));
            Checks.fails(
                    BadRequestException.class,
                    () -> model.call(prompt(ask(address, "key").n(1000))));
            Checks.fails(UnauthorizedException.class, () -> OpenAiChatModel.builder()
                    .options(ask(address, "wrong").build())
                    .build()
                    .call(prompt(ask(address, "wrong"))));
        });
        checks.check("abort", () -> {
            ChatResponse first = model.stream(prompt(ask(address, "key").maxTokens(400)))
                    .blockFirst(Duration.ofMinutes(1));
            Checks.that(first != null, "no chunk");
        });
        checks.end();
    }
}
