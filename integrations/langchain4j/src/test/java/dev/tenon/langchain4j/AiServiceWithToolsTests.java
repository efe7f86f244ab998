package dev.tenon.langchain4j;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.common.AbstractAiServiceWithToolsIT;
import java.util.List;

/// LangChain4j's tests of services with tools.
class AiServiceWithToolsTests extends AbstractAiServiceWithToolsIT {
    @Override
    protected List<ChatModel> models() {
        return List.of(Embedded.chatModel());
    }

    @Override
    protected boolean supportsRecursion() {
        return true;
    }

    @Override
    protected Image catImage() {
        return Image.builder().base64Data("AAAA").mimeType("image/png").build(); // not from the network: it is refused
    }
}
