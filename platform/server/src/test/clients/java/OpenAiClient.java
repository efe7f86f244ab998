import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolChoiceOption;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.List;
import java.util.Map;

/// Asks a server by openai-java. Argument: its address.
final class OpenAiClient {
    /// What the model has to fill in.
    public static final class Fox {
        @JsonPropertyDescription("Its colour")
        public Colour colour;

        public boolean clever;
    }

    public enum Colour {
        RED,
        GREY
    }

    private static OpenAIClient client(String address, String key) {
        return OpenAIOkHttpClient.builder()
                .baseUrl(address + "/v1")
                .apiKey(key)
                .maxRetries(0)
                .build();
    }

    private static ChatCompletionCreateParams.Builder ask() {
        return ChatCompletionCreateParams.builder()
                .model(Checks.MODEL)
                .addUserMessage(Checks.QUESTION)
                .maxCompletionTokens(8)
                .temperature(0.0);
    }

    private static ChatCompletionCreateParams.Builder askWithTool() {
        FunctionParameters parameters = FunctionParameters.builder()
                .putAdditionalProperty("type", JsonValue.from("object"))
                .putAdditionalProperty("properties", JsonValue.from(Map.of("zone", Map.of("enum", List.of("UTC", "CET")))))
                .putAdditionalProperty("required", JsonValue.from(List.of("zone")))
                .putAdditionalProperty("additionalProperties", JsonValue.from(false))
                .build();
        return ask().maxCompletionTokens(200)
                .parallelToolCalls(false)
                .addFunctionTool(FunctionDefinition.builder()
                        .name("time")
                        .description("Tells the time")
                        .parameters(parameters)
                        .build())
                .toolChoice(ChatCompletionToolChoiceOption.Auto.REQUIRED);
    }

    private static void requireCall(ChatCompletion answer) {
        var calls = answer.choices().getFirst().message().toolCalls().orElseThrow();
        Checks.equal(1, calls.size());
        Checks.equal("time", calls.getFirst().asFunction().function().name());
        String arguments = calls.getFirst().asFunction().function().arguments();
        Checks.that(arguments.matches("\\{\\s*\"zone\": ?\"(UTC|CET)\"\\s*}"), arguments);
        Checks.equal(
                ChatCompletion.Choice.FinishReason.TOOL_CALLS,
                answer.choices().getFirst().finishReason());
    }

    private static ChatCompletion streamed(OpenAIClient client, ChatCompletionCreateParams params) {
        ChatCompletionAccumulator all = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> stream =
                client.chat().completions().createStreaming(params)) {
            stream.stream().forEach(all::accumulate);
        }
        return all.chatCompletion();
    }

    public static void main(String[] args) {
        Checks checks = new Checks();
        OpenAIClient client = client(args[0], "key");
        checks.check("chat", () -> {
            ChatCompletion answer = client.chat()
                    .completions()
                    .create(ask().logprobs(true).topLogprobs(2).n(2).build());
            Checks.equal(2, answer.choices().size());
            Checks.that(!answer.choices().getFirst().message().content().orElseThrow().isEmpty(), answer);
            var tokens = answer.choices().getFirst().logprobs().orElseThrow().content().orElseThrow();
            Checks.equal(8, tokens.size());
            Checks.equal(2, tokens.getFirst().topLogprobs().size());
            Checks.equal(16L, answer.usage().orElseThrow().completionTokens());
            answer.validate();
        });
        checks.check("stream", () -> {
            ChatCompletion plain = client.chat().completions().create(ask().build());
            ChatCompletion answer = streamed(
                    client,
                    ask().streamOptions(ChatCompletionStreamOptions.builder()
                                    .includeUsage(true)
                                    .build())
                            .build());
            Checks.equal(
                    plain.choices().getFirst().message().content(),
                    answer.choices().getFirst().message().content());
            Checks.equal(8L, answer.usage().orElseThrow().completionTokens());
        });
        checks.check("tools", () -> requireCall(client.chat().completions().create(askWithTool().build())));
        checks.check("tools, stream", () -> requireCall(streamed(client, askWithTool().build())));
        checks.check("schema", () -> {
            var answer = client.chat()
                    .completions()
                    .create(ask().maxCompletionTokens(200)
                            .responseFormat(Fox.class)
                            .build());
            Checks.that(answer.choices().getFirst().message().content().orElseThrow().colour != null, answer);
        });
        checks.check("embeddings", () -> {
            var answer = client.embeddings()
                    .create(EmbeddingCreateParams.builder()
                            .model(Checks.MODEL)
                            .inputOfArrayOfStrings(List.of("a fox", "the sea"))
                            .build());
            Checks.equal(2, answer.data().size());
            Checks.equal(512, answer.data().get(1).embedding().size());
        });
        checks.check("responses", () -> {
            ResponseCreateParams params = ResponseCreateParams.builder()
                    .model(Checks.MODEL)
                    .input(Checks.QUESTION)
                    .maxOutputTokens(8)
                    .temperature(0.0)
                    .build();
            Response plain = client.responses().create(params);
            ResponseAccumulator all = ResponseAccumulator.create();
            try (StreamResponse<ResponseStreamEvent> stream = client.responses().createStreaming(params)) {
                stream.stream().forEach(all::accumulate);
            }
            String text = plain.output().getFirst().asMessage().content().getFirst().asOutputText().text();
            Checks.that(!text.isEmpty(), plain);
            Checks.equal(
                    text,
                    all.response().output().getFirst().asMessage().content().getFirst().asOutputText().text());
        });
        checks.check("models", () -> {
            Checks.equal(Checks.MODEL, client.models().list().data().getFirst().id());
            Checks.equal(Checks.MODEL, client.models().retrieve(Checks.MODEL).id());
        });
        checks.check("errors", () -> {
            Checks.fails(
                    NotFoundException.class,
                    () -> client.chat().completions().create(ask().model("other").build()));
            Checks.fails(
                    BadRequestException.class,
                    () -> client.chat().completions().create(ask().n(1000).build()));
            Checks.fails(
                    UnauthorizedException.class,
                    () -> client(args[0], "wrong").models().list());
        });
        checks.check("abort", () -> {
            try (StreamResponse<ChatCompletionChunk> stream = client.chat()
                    .completions()
                    .createStreaming(ask().maxCompletionTokens(400)
                            .putAdditionalBodyProperty("ignore_eos", JsonValue.from(true))
                            .build())) {
                Checks.that(stream.stream().findFirst().isPresent(), "no chunk");
            }
        });
        checks.end();
    }
}
