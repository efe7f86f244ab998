package dev.tenon.spring;

import dev.tenon.MediaParts;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.util.JsonHelper;

/// Spring AI's conversations as the engine has them.
final class Conversation {
    private static final JsonHelper JSON = new JsonHelper();

    private Conversation() {}

    /// {@return what the model is to answer}
    ///
    /// @param messages the messages, oldest first
    /// @param options tools, schema of the answer, and variables of the template
    static ChatRequest of(List<Message> messages, TenonChatOptions options) {
        List<ToolCallback> tools = Objects.requireNonNullElse(options.getToolCallbacks(), List.of());
        String schema = options.getOutputSchema();
        return ChatRequest.builder()
                .turns(messages.stream().flatMap(Conversation::turns).toList())
                .tools(tools.stream()
                        .map(ToolCallback::getToolDefinition)
                        .map(Conversation::tool)
                        .toList())
                .format(schema == null ? TextFormat.any() : TextFormat.schema(schema))
                .variables(options.getVariables())
                .build();
    }

    private static Tool tool(ToolDefinition tool) {
        String schema = tool.inputSchema();
        return new Tool(tool.name(), tool.description(), schema.isBlank() ? null : JSON.fromJsonToMap(schema));
    }

    /// {@return the turns of a message: one, but of the results of several calls one for each}
    private static Stream<ChatTurn> turns(Message message) {
        return switch (message) {
            case ToolResponseMessage results ->
                results.getResponses().stream()
                        .map(result ->
                                ChatTurn.result(new ToolCall(result.id(), result.name(), "{}"), result.responseData()));
            case AssistantMessage assistant -> Stream.of(turn(assistant));
            case UserMessage user ->
                Stream.of(new ChatTurn(ChatTurn.USER, text(user), null, List.of(), null, null, parts(user.getMedia())));
            default -> Stream.of(ChatTurn.of(message.getMessageType().getValue(), text(message)));
        };
    }

    private static ChatTurn turn(AssistantMessage message) {
        List<ToolCall> calls = message.getToolCalls().stream()
                .map(call -> new ToolCall(call.id(), call.name(), call.arguments()))
                .toList();
        return new ChatTurn(
                ChatTurn.ASSISTANT,
                text(message),
                reasoning(message.getMetadata()),
                calls,
                null,
                null,
                parts(message.getMedia()));
    }

    private static @Nullable String reasoning(Map<String, Object> metadata) {
        return metadata.get(TenonChatModel.REASONING) instanceof String text ? text : null;
    }

    private static String text(Message message) {
        return Objects.requireNonNullElse(message.getText(), "");
    }

    /// {@return pictures and sounds; Spring AI does not say where in the text they stand}
    ///
    /// @throws IllegalArgumentException if one is an address of another kind than `data:` and `file:`
    private static List<MediaPart> parts(List<Media> media) {
        return media.stream().map(Conversation::part).toList();
    }

    private static MediaPart part(Media media) {
        return media.getData() instanceof byte[] bytes
                ? new MediaPart(media.getMimeType().toString(), ByteBuffer.wrap(bytes))
                : MediaParts.of(URI.create(media.getData().toString()));
    }
}
