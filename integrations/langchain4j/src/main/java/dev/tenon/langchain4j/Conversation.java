package dev.tenon.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.chat.ToolChoice;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Their conversations as the engine has them.
final class Conversation {
    private Conversation() {}

    /// {@return what the model is to answer}
    ///
    /// @param request what they ask for
    /// @throws UnsupportedFeatureException if that cannot be had
    static ChatRequest of(dev.langchain4j.model.chat.request.ChatRequest request) {
        ChatRequestParameters parameters = request.parameters();
        return ChatRequest.builder()
                .turns(turns(request.messages()))
                .tools(parameters.toolSpecifications().stream()
                        .map(Conversation::tool)
                        .toList())
                .toolChoice(choice(parameters.toolChoice()))
                .format(Schemas.format(parameters.responseFormat()))
                .build();
    }

    /// {@return messages as turns}
    ///
    /// @param messages the messages
    /// @throws UnsupportedFeatureException if one has more than text
    static List<ChatTurn> turns(List<ChatMessage> messages) {
        return messages.stream().map(Conversation::turn).toList();
    }

    private static ChatTurn turn(ChatMessage message) {
        return switch (message) {
            case SystemMessage system -> ChatTurn.system(system.text());
            case UserMessage user -> turn(ChatTurn.USER, text(user.contents()), null, user.name());
            case AiMessage ai ->
                new ChatTurn(
                        ChatTurn.ASSISTANT,
                        Objects.requireNonNullElse(ai.text(), ""),
                        ai.thinking(),
                        ai.toolExecutionRequests().stream()
                                .map(Conversation::call)
                                .toList(),
                        null,
                        null,
                        List.of());
            case ToolExecutionResultMessage result ->
                turn(ChatTurn.TOOL, text(result.contents()), result.id(), result.toolName());
            default -> throw unsupported("a message of type " + message.type());
        };
    }

    private static ChatTurn turn(String role, String text, @Nullable String callId, @Nullable String name) {
        return new ChatTurn(role, text, null, List.of(), callId, name, List.of());
    }

    private static String text(List<Content> contents) {
        return contents.stream()
                .map(content -> {
                    if (content instanceof TextContent text) {
                        return text.text();
                    }
                    throw unsupported(
                            "non-text content (" + content.type().name().toLowerCase(Locale.ROOT) + ")");
                })
                .collect(Collectors.joining("\n"));
    }

    private static UnsupportedFeatureException unsupported(String what) {
        return new UnsupportedFeatureException("The request has " + what + ", which is not supported: text alone is.");
    }

    private static ToolCall call(ToolExecutionRequest request) {
        return new ToolCall(
                Objects.requireNonNullElse(request.id(), ""),
                request.name(),
                Objects.requireNonNullElse(request.arguments(), "{}"));
    }

    private static Tool tool(ToolSpecification tool) {
        return new Tool(
                tool.name(),
                Objects.requireNonNullElse(tool.description(), ""),
                tool.parameters() == null ? null : Schemas.of(tool.parameters()));
    }

    private static ToolChoice choice(dev.langchain4j.model.chat.request.@Nullable ToolChoice choice) {
        return switch (choice) {
            case REQUIRED -> ToolChoice.REQUIRED;
            case NONE -> ToolChoice.NONE;
            case AUTO -> ToolChoice.AUTO;
            case null -> ToolChoice.AUTO;
        };
    }
}
