import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.output.FinishReason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Asks a server by LangChain4j's client of OpenAI. Argument: its address.
final class LangChainClient {
    private static OpenAiChatModel.OpenAiChatModelBuilder model(String address, String key) {
        return OpenAiChatModel.builder()
                .baseUrl(address + "/v1")
                .apiKey(key)
                .modelName(Checks.MODEL)
                .temperature(0.0)
                .maxRetries(0);
    }

    private static ChatRequest.Builder ask(int tokens) {
        return ChatRequest.builder()
                .messages(UserMessage.from(Checks.QUESTION))
                .maxOutputTokens(tokens);
    }

    private static ChatRequest askWithTool() {
        return ChatRequest.builder()
                .messages(UserMessage.from(Checks.QUESTION))
                .toolSpecifications(ToolSpecification.builder()
                        .name("time")
                        .description("Tells the time")
                        .parameters(JsonObjectSchema.builder()
                                .addEnumProperty("zone", List.of("UTC", "CET"))
                                .required("zone")
                                .build())
                        .build())
                .toolChoice(ToolChoice.REQUIRED)
                .maxOutputTokens(200)
                .build();
    }

    private static void requireCall(ChatResponse answer) {
        List<ToolExecutionRequest> calls = answer.aiMessage().toolExecutionRequests();
        Checks.that(!calls.isEmpty(), answer);
        Checks.equal("time", calls.getFirst().name());
        Checks.that(calls.getFirst().arguments().matches("\\{\\s*\"zone\": ?\"(UTC|CET)\"\\s*}"), answer);
        Checks.equal(FinishReason.TOOL_EXECUTION, answer.finishReason());
    }

    /// Collects a stream.
    private static final class Collector implements StreamingChatResponseHandler {
        final StringBuilder text = new StringBuilder();
        final CompletableFuture<ChatResponse> whole = new CompletableFuture<>();

        @Override
        public void onPartialResponse(String part) {
            text.append(part);
        }

        @Override
        public void onCompleteResponse(ChatResponse response) {
            whole.complete(response);
        }

        @Override
        public void onError(Throwable error) {
            whole.completeExceptionally(error);
        }
    }

    public static void main(String[] args) {
        Checks checks = new Checks();
        OpenAiChatModel model = model(args[0], "key").parallelToolCalls(false).build();
        OpenAiStreamingChatModel streaming = OpenAiStreamingChatModel.builder()
                .baseUrl(args[0] + "/v1")
                .apiKey("key")
                .modelName(Checks.MODEL)
                .temperature(0.0)
                .parallelToolCalls(false)
                .build();
        checks.check("chat", () -> {
            ChatResponse answer = model.chat(ask(8).build());
            Checks.that(!answer.aiMessage().text().isEmpty(), answer);
            Checks.equal(FinishReason.LENGTH, answer.finishReason());
            Checks.equal(8, answer.tokenUsage().outputTokenCount());
        });
        checks.check("stream", () -> {
            Collector collector = new Collector();
            streaming.chat(ask(8).build(), collector);
            ChatResponse answer = collector.whole.get(1, TimeUnit.MINUTES);
            Checks.equal(model.chat(ask(8).build()).aiMessage().text(), answer.aiMessage().text());
            Checks.equal(answer.aiMessage().text(), collector.text.toString());
            Checks.equal(8, answer.tokenUsage().outputTokenCount());
        });
        checks.check("tools", () -> requireCall(model.chat(askWithTool())));
        checks.check("tools, stream", () -> {
            Collector collector = new Collector();
            streaming.chat(askWithTool(), collector);
            requireCall(collector.whole.get(1, TimeUnit.MINUTES));
        });
        checks.check("schema", () -> {
            JsonSchema schema = JsonSchema.builder()
                    .name("fox")
                    .rootElement(JsonObjectSchema.builder()
                            .addEnumProperty("colour", List.of("red", "grey"))
                            .addBooleanProperty("clever")
                            .required("colour", "clever")
                            .additionalProperties(false)
                            .build())
                    .build();
            String text = model.chat(ask(200)
                            .responseFormat(ResponseFormat.builder()
                                    .type(ResponseFormatType.JSON)
                                    .jsonSchema(schema)
                                    .build())
                            .build())
                    .aiMessage()
                    .text();
            Checks.that(text.matches("(?s)\\{\\s*\"colour\":.*\"clever\":.*}"), text);
        });
        checks.check("embeddings", () -> {
            OpenAiEmbeddingModel embeddings = OpenAiEmbeddingModel.builder()
                    .baseUrl(args[0] + "/v1")
                    .apiKey("key")
                    .modelName(Checks.MODEL)
                    .maxRetries(0)
                    .build();
            var vectors = embeddings
                    .embedAll(List.of(TextSegment.from("a fox"), TextSegment.from("the sea")))
                    .content();
            Checks.equal(2, vectors.size());
            Checks.equal(512, vectors.get(1).dimension());
        });
        checks.check("errors", () -> {
            Checks.fails(
                    ModelNotFoundException.class,
                    () -> model.chat(ask(8).modelName("other").build()));
            Checks.fails(
                    AuthenticationException.class,
                    () -> model(args[0], "wrong").build().chat(ask(8).build()));
            Checks.fails(
                    InvalidRequestException.class,
                    () -> model(args[0], "key")
                            .temperature(-1.0)
                            .build()
                            .chat(ask(8).build()));
        });
        checks.check("abort", () -> {
            CountDownLatch begun = new CountDownLatch(1);
            streaming.chat(ask(400).build(), new StreamingChatResponseHandler() {
                @Override
                public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
                    context.streamingHandle().cancel();
                    begun.countDown();
                }

                @Override
                public void onCompleteResponse(ChatResponse response) {}

                @Override
                public void onError(Throwable error) {}
            });
            Checks.that(begun.await(1, TimeUnit.MINUTES), "no text");
        });
        checks.end();
    }
}
