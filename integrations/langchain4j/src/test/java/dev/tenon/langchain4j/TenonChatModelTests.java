package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelIT;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;

/// LangChain4j's tests of chat models.
class TenonChatModelTests extends AbstractChatModelIT {
    @Override
    protected List<ChatModel> models() {
        return List.of(Embedded.chatModel());
    }

    @Override
    protected ChatModel createModelWith(ChatRequestParameters parameters) {
        return Embedded.chat().defaultRequestParameters(parameters).build();
    }

    @Override
    protected ChatRequestParameters createIntegrationSpecificParameters(int maxOutputTokens) {
        return TenonChatRequestParameters.builder()
                .maxOutputTokens(maxOutputTokens)
                .seed(7L)
                .build();
    }

    @Override
    protected boolean supportsModelNameParameter() {
        return false;
    }

    @Override
    protected List<ChatModel> modelsSupportingImageInputs() {
        return List.of(Seeing.chat().build());
    }

    @Override
    protected boolean supportsSingleImageInputAsPublicURL() {
        return false;
    }
}
