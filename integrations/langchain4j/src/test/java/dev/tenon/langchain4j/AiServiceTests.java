package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.common.AbstractAiServiceIT;
import java.util.List;

/// LangChain4j's tests of services.
class AiServiceTests extends AbstractAiServiceIT {
    @Override
    protected List<ChatModel> models() {
        return List.of(Embedded.chatModel());
    }
}
