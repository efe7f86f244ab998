package dev.tenon.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.engine.Usage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Collects a reply; of its calls those that are whole.
class ReplyEvents implements ChatEvents {
    private final StringBuilder answer = new StringBuilder();
    private final StringBuilder thinking = new StringBuilder();
    private final Map<Integer, OpenCall> open = new HashMap<>();
    private final List<ToolExecutionRequest> calls = new ArrayList<>();
    private @Nullable FinishReason finish;
    private @Nullable TokenUsage usage;

    /// A call that has begun.
    ///
    /// @param id what its result names it by
    /// @param name the tool
    /// @param arguments JSON so far
    record OpenCall(String id, String name, StringBuilder arguments) {}

    @Override
    public void text(String text) {
        answer.append(text);
    }

    @Override
    public void reasoning(String text) {
        thinking.append(text);
    }

    @Override
    public void callBegins(int index, String id, String name) {
        open.put(index, new OpenCall(id, name, new StringBuilder()));
    }

    @Override
    public void callArguments(int index, String json) {
        call(index).arguments().append(json);
    }

    @Override
    public void callEnds(int index) {
        OpenCall call = call(index);
        calls.add(ToolExecutionRequest.builder()
                .id(call.id())
                .name(call.name())
                .arguments(call.arguments().toString())
                .build());
    }

    @Override
    public void ends(ChatEnd end, Usage counts) {
        finish = finish(end);
        usage = usage(counts);
    }

    /// {@return a call that has begun}
    ///
    /// @param index its number
    OpenCall call(int index) {
        return open.get(index);
    }

    /// {@return the last call that ended}
    ToolExecutionRequest lastCall() {
        return calls.getLast();
    }

    /// {@return the whole reply}
    ///
    /// @param modelName whose it is
    ChatResponse response(String modelName) {
        AiMessage message = AiMessage.builder()
                .text(answer.isEmpty() ? null : answer.toString())
                .thinking(thinking.isEmpty() ? null : thinking.toString())
                .toolExecutionRequests(calls)
                .build();
        return ChatResponse.builder()
                .aiMessage(message)
                .id(UUID.randomUUID().toString())
                .modelName(modelName)
                .tokenUsage(usage)
                .finishReason(finish)
                .build();
    }

    static FinishReason finish(ChatEnd end) {
        return switch (end) {
            case STOP -> FinishReason.STOP;
            case LENGTH -> FinishReason.LENGTH;
            case CALLS -> FinishReason.TOOL_EXECUTION;
            case CANCELLED -> FinishReason.OTHER;
        };
    }

    static TokenUsage usage(Usage counts) {
        return new TokenUsage(counts.promptTokens() + counts.cachedTokens(), counts.generatedTokens());
    }
}
