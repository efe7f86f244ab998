package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.service.common.AbstractStreamingAiServiceIT;
import java.util.List;

/// LangChain4j's tests of streaming services.
class StreamingAiServiceTests extends AbstractStreamingAiServiceIT {
    @Override
    protected List<StreamingChatModel> models() {
        return List.of(Embedded.streamingModel());
    }
}
