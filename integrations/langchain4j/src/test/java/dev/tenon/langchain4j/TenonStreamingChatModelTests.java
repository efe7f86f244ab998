package dev.tenon.langchain4j;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.atLeastOnce;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import org.mockito.InOrder;

/// LangChain4j's tests of streaming chat models, but for the one that waits half a minute.
class TenonStreamingChatModelTests extends AbstractStreamingChatModelIT {
    @Override
    protected List<StreamingChatModel> models() {
        return List.of(Embedded.streamingModel());
    }

    @Override
    protected StreamingChatModel createModelWith(ChatRequestParameters parameters) {
        return Embedded.streaming().defaultRequestParameters(parameters).build();
    }

    @Override
    public StreamingChatModel createModelWith(ChatModelListener listener) {
        return Embedded.streaming().listeners(listener).build();
    }

    @Override
    protected ChatRequestParameters createIntegrationSpecificParameters(int maxOutputTokens) {
        return TenonChatRequestParameters.builder()
                .maxOutputTokens(maxOutputTokens)
                .seed(7L)
                .build();
    }

    private static void verifyCall(StreamingChatResponseHandler handler, InOrder order, int index, String id) {
        order.verify(handler, atLeastOnce())
                .onPartialToolCall(
                        argThat(part -> part.index() == index && part.id().equals(id)), any());
        order.verify(handler)
                .onCompleteToolCall(argThat(call -> call.index() == index
                        && call.toolExecutionRequest().id().equals(id)));
    }

    @Override
    protected void verifyToolCallbacks(StreamingChatResponseHandler handler, InOrder order, String id) {
        verifyCall(handler, order, 0, id);
    }

    @Override
    protected void verifyToolCallbacks(StreamingChatResponseHandler handler, InOrder order, String id1, String id2) {
        verifyCall(handler, order, 0, id1);
        verifyCall(handler, order, 1, id2);
    }

    @Override
    protected boolean supportsStreamingCancellation() {
        return false;
    }

    @Override
    protected boolean supportsModelNameParameter() {
        return false;
    }

    @Override
    protected List<StreamingChatModel> modelsSupportingImageInputs() {
        return List.of(Seeing.streaming().build());
    }

    @Override
    protected boolean supportsSingleImageInputAsPublicURL() {
        return false;
    }
}
