package dev.tenon.spring;

import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.metrics.FinishedGeneration;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/// Collects a reply, and tells its parts as they come. The last of them has the calls of tools, the end and the counts.
final class Reply extends ChatReply.Collector {
    private final String id = UUID.randomUUID().toString();
    private final String model;
    private final Consumer<ChatResponse> parts;
    private final Consumer<FinishedGeneration> finished;
    private final long begin = System.nanoTime();
    private long firstToken;
    /// Whether a call has begun and not ended.
    private boolean callIsOpen;

    /// @param model the model's name
    /// @param parts takes the parts
    /// @param finished hears of the end
    Reply(String model, Consumer<ChatResponse> parts, Consumer<FinishedGeneration> finished) {
        this.model = model;
        this.parts = parts;
        this.finished = finished;
    }

    @Override
    public void text(String text) {
        first();
        super.text(text);
        parts.accept(part(AssistantMessage.builder().content(text)));
    }

    @Override
    public void reasoning(String text) {
        first();
        super.reasoning(text);
        parts.accept(
                part(AssistantMessage.builder().content("").properties(Map.of(TenonChatModel.REASONING_PART, text))));
    }

    @Override
    public void callBegins(int index, String callId, String name) {
        first();
        callIsOpen = true;
        super.callBegins(index, callId, name);
    }

    @Override
    public void callEnds(int index) {
        callIsOpen = false;
    }

    @Override
    public void callDropped(int index) {
        callIsOpen = false;
        super.callDropped(index);
    }

    @Override
    public void ends(ChatEnd end, Usage usage) {
        first();
        super.ends(end, usage);
        Duration time = Duration.ofNanos(System.nanoTime() - begin);
        long queued = Math.max(0, firstToken - usage.prefillNanos());
        finished.accept(
                new FinishedGeneration(model, usage, Duration.ofNanos(queued), time, Duration.ofNanos(firstToken)));
        parts.accept(last(""));
    }

    private void first() {
        if (firstToken == 0) {
            firstToken = System.nanoTime() - begin;
        }
    }

    private ChatResponse part(AssistantMessage.Builder<?> message) {
        return new ChatResponse(
                List.of(new Generation(message.build())),
                ChatResponseMetadata.builder().id(id).model(model).build());
    }

    /// {@return the whole reply, after its end}
    ChatResponse whole() {
        return last(reply().text());
    }

    private ChatResponse last(String text) {
        ChatReply reply = reply();
        Map<String, Object> properties = new HashMap<>();
        if (!reply.reasoning().isEmpty()) {
            properties.put(TenonChatModel.REASONING, reply.reasoning());
        }
        int whole = reply.calls().size() - (callIsOpen ? 1 : 0);
        List<AssistantMessage.ToolCall> calls = reply.calls().stream()
                .limit(whole)
                .map(call -> new AssistantMessage.ToolCall(call.id(), "function", call.name(), call.arguments()))
                .toList();
        Generation generation = new Generation(
                AssistantMessage.builder()
                        .content(text)
                        .properties(properties)
                        .toolCalls(calls)
                        .build(),
                ChatGenerationMetadata.builder()
                        .finishReason(reason(reply.end()))
                        .build());
        Usage usage = reply.usage();
        return new ChatResponse(
                List.of(generation),
                ChatResponseMetadata.builder()
                        .id(id)
                        .model(model)
                        .usage(new DefaultUsage(
                                usage.promptTokens() + usage.cachedTokens(),
                                usage.generatedTokens(),
                                null,
                                usage,
                                (long) usage.cachedTokens(),
                                null))
                        .build());
    }

    private static String reason(ChatEnd end) {
        return end == ChatEnd.CALLS ? "TOOL_CALLS" : end.name();
    }
}
