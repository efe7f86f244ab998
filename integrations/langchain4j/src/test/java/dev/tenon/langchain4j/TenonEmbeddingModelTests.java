package dev.tenon.langchain4j;

import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.common.AbstractEmbeddingModelIT;
import dev.langchain4j.model.embedding.listener.EmbeddingModelListener;
import dev.tenon.Model;
import dev.tenon.Tenon;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// LangChain4j's tests of embedding models, of an encoder and of a model that generates.
class TenonEmbeddingModelTests extends AbstractEmbeddingModelIT {
    private Model encoder;
    private Model decoder;

    @BeforeAll
    void load() {
        encoder = Tenon.load(Embedded.GOLDEN.resolve("bert.q8_0.gguf").toString());
        decoder = Tenon.model(Embedded.FILE.toString())
                .contextLength(256)
                .embeddings()
                .load();
    }

    @AfterAll
    void close() {
        encoder.close();
        decoder.close();
    }

    @Override
    protected List<EmbeddingModel> models() {
        return List.of(
                TenonEmbeddingModel.builder().model(encoder).build(),
                TenonEmbeddingModel.builder().model(decoder).build());
    }

    @Override
    protected EmbeddingModel modelWith(EmbeddingModelListener listener) {
        return TenonEmbeddingModel.builder()
                .model(encoder)
                .listeners(List.of(listener))
                .build();
    }

    @Override
    protected EmbeddingModel failingModelWith(EmbeddingModelListener listener) {
        return TenonEmbeddingModel.builder()
                .model(Embedded.MODEL) // was not loaded to embed
                .listeners(List.of(listener))
                .build();
    }

    @Override
    protected boolean supportsInputTypeParameter() {
        return false;
    }

    @Override
    protected boolean supportsDimensionsParameter() {
        return false;
    }

    @Override
    protected boolean supportsImageInput() {
        return false;
    }
}
