package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.common.AbstractAiServiceWithJsonSchemaIT;
import java.util.List;

/// LangChain4j's tests of services that return values.
class AiServiceWithJsonSchemaTests extends AbstractAiServiceWithJsonSchemaIT {
    @Override
    protected List<ChatModel> models() {
        return List.of(Embedded.chatModel());
    }

    @Override
    protected boolean supportsRecursion() {
        return true;
    }
}
