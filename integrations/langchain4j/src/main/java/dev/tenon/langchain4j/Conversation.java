package dev.tenon.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.audio.Audio;
import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.AudioContent;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.tenon.MediaParts;
import dev.tenon.Model;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolCall;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.api.media.MediaKind;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Their conversations as the engine has them.
final class Conversation {
    private final Model model;

    /// @param model tells what it takes
    Conversation(Model model) {
        this.model = model;
    }

    /// {@return what the model is to answer}
    ///
    /// @param request what they ask for
    /// @throws UnsupportedFeatureException if that cannot be had
    ChatRequest of(dev.langchain4j.model.chat.request.ChatRequest request) {
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
    /// @throws UnsupportedFeatureException if one has what the model does not take
    List<ChatTurn> turns(List<ChatMessage> messages) {
        return messages.stream().map(this::turn).toList();
    }

    private ChatTurn turn(ChatMessage message) {
        return switch (message) {
            case SystemMessage system -> ChatTurn.system(system.text());
            case UserMessage user -> turn(ChatTurn.USER, user.contents(), null, user.name());
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
                turn(ChatTurn.TOOL, result.contents(), result.id(), result.toolName());
            default -> throw unsupported("a message of type " + message.type(), "Leave it out.");
        };
    }

    /// Texts stand in lines of their own, and pictures and sounds where they are among them.
    private ChatTurn turn(String role, List<Content> contents, @Nullable String callId, @Nullable String name) {
        StringBuilder said = new StringBuilder();
        List<MediaPart> media = new ArrayList<>();
        boolean afterText = false;
        for (Content content : contents) {
            if (content instanceof TextContent text) {
                said.append(afterText ? "\n" : "").append(text.text());
            } else {
                said.append(MediaPart.PLACE);
                media.add(part(content));
            }
            afterText = content instanceof TextContent;
        }
        return new ChatTurn(role, said.toString(), null, List.of(), callId, name, media);
    }

    private MediaPart part(Content content) {
        String what = "non-text content (" + content.type().name().toLowerCase(Locale.ROOT) + ")";
        if (content instanceof ImageContent image && takes(MediaKind.PICTURE)) {
            Image it = image.image();
            return part(what, bytes(it.base64Data()), it.mimeType(), it.url());
        }
        if (content instanceof AudioContent sound && takes(MediaKind.SOUND)) {
            Audio it = sound.audio();
            byte[] bytes = it.binaryData() == null ? bytes(it.base64Data()) : it.binaryData();
            return part(what, bytes, it.mimeType(), it.url());
        }
        throw unsupported(
                what,
                model.name() + " was loaded without an encoder of it. Leave it out, or load the model with a companion"
                        + " file that has one (ModelLoader.companion).");
    }

    private boolean takes(MediaKind kind) {
        return model.loaded().media().contains(kind);
    }

    private static byte @Nullable [] bytes(@Nullable String base64) {
        return base64 == null ? null : Base64.getMimeDecoder().decode(base64);
    }

    private static MediaPart part(String what, byte @Nullable [] bytes, @Nullable String type, @Nullable URI address) {
        if (bytes != null) {
            return new MediaPart(Objects.requireNonNullElse(type, ""), ByteBuffer.wrap(bytes));
        }
        URI from = Objects.requireNonNull(address, "content without data and address");
        try {
            return MediaParts.of(from);
        } catch (IllegalArgumentException e) {
            throw unsupported(what + " with an address of that kind", String.valueOf(e.getMessage()));
        }
    }

    private static UnsupportedFeatureException unsupported(String what, String instead) {
        return new UnsupportedFeatureException("The request has " + what + ", which is not supported: " + instead);
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
