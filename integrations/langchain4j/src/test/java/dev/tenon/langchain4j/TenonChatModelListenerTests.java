package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelListenerIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.tenon.api.error.TenonException;

/// LangChain4j's tests of listeners of chat models.
class TenonChatModelListenerTests extends AbstractChatModelListenerIT {
    @Override
    protected ChatModel createModel(ChatModelListener listener) {
        return Embedded.chat()
                .defaultRequestParameters(Embedded.parameters(modelName(), temperature(), topP(), maxTokens()))
                .listeners(listener)
                .build();
    }

    @Override
    protected String modelName() {
        return Embedded.NAME;
    }

    @Override
    protected ChatModel createFailingModel(ChatModelListener listener) {
        return TenonChatModel.builder()
                .model(Embedded.closed())
                .listeners(listener)
                .build();
    }

    @Override
    protected Class<? extends Exception> expectedExceptionClass() {
        return TenonException.class;
    }
}
