package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelListenerIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.tenon.api.error.TenonException;

/// LangChain4j's tests of listeners of streaming chat models.
class TenonStreamingChatModelListenerTests extends AbstractStreamingChatModelListenerIT {
    @Override
    protected StreamingChatModel createModel(ChatModelListener listener) {
        return Embedded.streaming()
                .defaultRequestParameters(Embedded.parameters(modelName(), temperature(), topP(), maxTokens()))
                .listeners(listener)
                .build();
    }

    @Override
    protected String modelName() {
        return Embedded.NAME;
    }

    @Override
    protected StreamingChatModel createFailingModel(ChatModelListener listener) {
        return TenonStreamingChatModel.builder()
                .model(Embedded.closed())
                .listeners(listener)
                .build();
    }

    @Override
    protected Class<? extends Exception> expectedExceptionClass() {
        return TenonException.class;
    }
}
