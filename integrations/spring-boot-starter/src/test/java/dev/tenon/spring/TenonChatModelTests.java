package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.Model;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.metrics.FinishedGeneration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.MessageAggregator;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/// Answers of the model, whole and in parts.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TenonChatModelTests {
    private static Model model;
    private static Story story;

    private final List<FinishedGeneration> finished = new ArrayList<>();
    private TenonChatModel chat;

    record City(String city) {}

    @BeforeAll
    static void load() {
        model = Story.load();
        story = new Story(model);
    }

    @AfterAll
    static void close() {
        model.close();
    }

    @BeforeEach
    void chat() {
        story.replies();
        chat = TenonChatModel.builder(model)
                .customizers(List.of(story))
                .listeners(List.of(finished::add))
                .build();
    }

    private static TenonChatOptions.Builder options() {
        return TenonChatOptions.builder();
    }

    private static Prompt prompt(TenonChatOptions.Builder options) {
        return new Prompt("Tell me a story.", options.build());
    }

    private static ToolCallback weather() {
        return FunctionToolCallback.builder("weather", (City city) -> "sunny in " + city.city())
                .description("Tells the weather")
                .inputType(City.class)
                .build();
    }

    private static ChatResponse aggregated(List<ChatResponse> parts) {
        ChatResponse[] whole = new ChatResponse[1];
        new MessageAggregator()
                .aggregate(Flux.fromIterable(parts), response -> whole[0] = response)
                .blockLast();
        return whole[0];
    }

    private static String text(ChatResponse response) {
        return response.getResult().getOutput().getText();
    }

    @Test
    void theSameSeedGivesTheSameTextWholeAndInParts() {
        ChatResponse whole = chat.call(prompt(options().seed(7L).maxTokens(20)));
        assertThat(text(whole)).hasSizeGreaterThan(20);
        assertThat(whole.getResult().getMetadata().getFinishReason()).isEqualTo("LENGTH");
        assertThat(whole.getMetadata().getModel()).isEqualTo(Story.NAME);
        assertThat(whole.getMetadata().getUsage().getCompletionTokens()).isEqualTo(20);
        assertThat(whole.getMetadata().getUsage().getPromptTokens()).isGreaterThan(5);
        assertThat(whole.getMetadata().getUsage().getNativeUsage()).isInstanceOf(Usage.class);

        List<ChatResponse> parts = chat.stream(prompt(options().seed(7L).maxTokens(20)))
                .collectList()
                .block();
        assertThat(parts).hasSizeGreaterThan(5);
        ChatResponse together = aggregated(parts);
        assertThat(text(together)).isEqualTo(text(whole));
        assertThat(together.getMetadata().getUsage().getTotalTokens())
                .isEqualTo(whole.getMetadata().getUsage().getTotalTokens());
        assertThat(together.getResult().getMetadata().getFinishReason()).isEqualTo("LENGTH");
        assertThat(parts.stream().map(part -> part.getMetadata().getId()).distinct())
                .hasSize(1);

        assertThat(text(chat.call(prompt(options().seed(8L).maxTokens(20))))).isNotEqualTo(text(whole));
        assertThat(finished).hasSize(3).allSatisfy(each -> {
            assertThat(each.firstToken()).isPositive().isLessThanOrEqualTo(each.time());
            assertThat(each.usage().generatedTokens()).isEqualTo(20);
        });
    }

    @Test
    void optionsOfAnyModelAreTaken() {
        story.replies("One two three four.");
        ChatOptions any = ChatOptions.builder()
                .stopSequences(List.of(" three"))
                .temperature(0.5)
                .topP(0.9)
                .topK(10)
                .frequencyPenalty(0.1)
                .presencePenalty(0.1)
                .build();
        ChatResponse response = chat.call(new Prompt("Count.", any));
        assertThat(text(response)).isEqualTo("One two");
        assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("STOP");
        assertThatThrownBy(() -> chat.call(prompt(options().topP(1.5))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("topP");
        assertThatThrownBy(() -> chat.call(prompt(options().model("gpt"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gpt");
    }

    @Test
    void ourOptionsAreCombined() {
        TenonChatOptions base = options()
                .seed(7L)
                .minP(0.1)
                .temperature(0.5)
                .variable("enable_thinking", false)
                .build();
        TenonChatOptions all = base.mutate()
                .combineWith(
                        options().seed(8L).repeatPenalty(1.1).outputSchema("{}").topK(3))
                .build();
        assertThat(all)
                .isEqualTo(options()
                        .seed(8L)
                        .minP(0.1)
                        .temperature(0.5)
                        .repeatPenalty(1.1)
                        .outputSchema("{}")
                        .topK(3)
                        .variable("enable_thinking", false)
                        .build())
                .hasSameHashCodeAs(all.mutate().clone().build())
                .isNotEqualTo(base);
        assertThat(base.with(ChatOptions.builder().temperature(0.7).build()))
                .isEqualTo(base.mutate().temperature(0.7).build());
    }

    @Test
    void aWholeConversationIsRead() {
        story.replies("Bye.");
        ToolResponseMessage results = ToolResponseMessage.builder()
                .responses(List.of(
                        new ToolResponseMessage.ToolResponse("1", "weather", "sunny"),
                        new ToolResponseMessage.ToolResponse("2", "weather", "wet")))
                .build();
        AssistantMessage calls = AssistantMessage.builder()
                .content("")
                .properties(Map.of(TenonChatModel.REASONING, "hm"))
                .toolCalls(List.of(
                        new AssistantMessage.ToolCall("1", "function", "weather", "{\"city\": \"Oslo\"}"),
                        new AssistantMessage.ToolCall("2", "function", "weather", "{\"city\": \"Rome\"}")))
                .build();
        TenonChatOptions options = options().toolCallbacks(weather()).build();
        Prompt prompt = new Prompt(
                List.of(new SystemMessage("Be brief."), new UserMessage("Weather?"), calls, results), options);
        String written = model.chatModel()
                .prompt(Conversation.of(prompt.getInstructions(), options))
                .text();
        assertThat(written).containsSubsequence("Be brief.", "Tells the weather", "Weather?", "Oslo", "sunny", "wet");
        assertThat(text(chat.call(prompt))).isEqualTo("Bye.");
    }

    @Test
    void callsOfToolsComeWhole() {
        String call = Story.call("weather", "{\"city\": \"Oslo\"}");
        story.replies(call, call);
        TenonChatOptions.Builder options = options().toolCallbacks(weather());
        ChatResponse whole = chat.call(prompt(options));
        assertThat(whole.hasToolCalls()).isTrue();
        assertThat(whole.getResult().getMetadata().getFinishReason()).isEqualTo("TOOL_CALLS");
        List<ChatResponse> parts = chat.stream(prompt(options)).collectList().block();
        AssistantMessage.ToolCall streamed =
                aggregated(parts).getResult().getOutput().getToolCalls().getFirst();
        assertThat(streamed.name()).isEqualTo("weather");
        assertThat(streamed.arguments()).isEqualTo("{\"city\": \"Oslo\"}");
        assertThat(whole.getResult().getOutput().getToolCalls()).hasSize(1);
    }

    @Test
    void aCutCallIsNone() {
        story.replies(Story.call("weather", "{\"city\": \"Oslo\"}"));
        int tokens = model.countTokens("<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"ci");
        ChatResponse cut = chat.call(prompt(options().toolCallbacks(weather()).maxTokens(tokens)));
        assertThat(cut.getResult().getMetadata().getFinishReason()).isEqualTo("LENGTH");
        assertThat(cut.hasToolCalls()).isFalse();
    }

    @Test
    void thoughtsAreMetadata() {
        String reply = "<think>Norway's capital?</think>\n\nOslo.";
        story.replies(reply, reply);
        AssistantMessage whole =
                chat.call(new Prompt("Capital of Norway?")).getResult().getOutput();
        assertThat(whole.getText()).isEqualTo("Oslo.");
        assertThat(whole.getMetadata().get(TenonChatModel.REASONING)).isEqualTo("Norway's capital?");
        List<ChatResponse> parts =
                chat.stream(new Prompt("Capital of Norway?")).collectList().block();
        StringBuilder thoughts = new StringBuilder();
        parts.forEach(part -> thoughts.append(
                part.getResult().getOutput().getMetadata().getOrDefault(TenonChatModel.REASONING_PART, "")));
        assertThat(thoughts).hasToString("Norway's capital?");
        assertThat(aggregated(parts).getResult().getOutput().getMetadata())
                .containsEntry(TenonChatModel.REASONING, "Norway's capital?");
    }

    @Test
    void anAnswerIsOfItsSchemaWhateverTheModelWrites() {
        String schema = "{\"type\":\"object\",\"properties\":{\"age\":{\"type\":\"integer\",\"minimum\":0,"
                + "\"maximum\":99}},\"required\":[\"age\"],\"additionalProperties\":false}";
        String json = text(chat.call(prompt(options().outputSchema(schema).seed(1L))));
        assertThat(json).matches("(?s)\\{\\s*\"age\"\\s*:\\s*\\d{1,2}\\s*}");
    }

    @Test
    void whoCancelsEndsTheGeneration() throws Exception {
        List<ChatResponse> three =
                chat.stream(prompt(options())).take(3).collectList().block();
        assertThat(three).hasSize(3);
        awaitIdle();
    }

    @Test
    void whoWantsNothingMakesTheModelWait() throws Exception {
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        List<ChatResponse> parts = new ArrayList<>();
        BaseSubscriber<ChatResponse> slow = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                request(2);
            }

            @Override
            protected void hookOnNext(ChatResponse part) {
                parts.add(part);
            }

            @Override
            protected void hookOnComplete() {
                ended.complete(parts.size());
            }
        };
        chat.stream(prompt(options().maxTokens(30).seed(3L))).subscribe(slow);
        Thread.sleep(Duration.ofMillis(500));
        assertThat(parts).hasSize(2);
        assertThat(finished).as("it waits").isEmpty();
        slow.requestUnbounded();
        assertThat(ended.get(30, TimeUnit.SECONDS)).isGreaterThan(5);

        BaseSubscriber<ChatResponse> gone = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                request(1);
            }
        };
        chat.stream(prompt(options())).subscribe(gone);
        Thread.sleep(Duration.ofMillis(300));
        gone.cancel();
        awaitIdle();
    }

    @Test
    void aClosedModelWaitsForNoReader() throws Exception {
        Model other = Story.load();
        chat = TenonChatModel.builder(other).build();
        CompletableFuture<ChatResponse> first = new CompletableFuture<>();
        BaseSubscriber<ChatResponse> idle = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                request(1);
            }

            @Override
            protected void hookOnNext(ChatResponse part) {
                first.complete(part);
            }
        };
        chat.stream(prompt(options())).subscribe(idle);
        first.get(30, TimeUnit.SECONDS);
        other.close();
        assertThat(other.runningRequests()).isZero();
    }

    private static void awaitIdle() throws InterruptedException {
        model.awaitIdle();
        assertThat(model.runningRequests()).isZero();
    }
}
