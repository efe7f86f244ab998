package dev.tenon.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.listener.ChatModelRequestContext;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.rag.DefaultRetrievalAugmentor;
import dev.langchain4j.rag.content.aggregator.ReRankingContentAggregator;
import dev.langchain4j.rag.content.retriever.EmbeddingStoreContentRetriever;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.store.embedding.EmbeddingStore;
import dev.langchain4j.store.embedding.inmemory.InMemoryEmbeddingStore;
import dev.tenon.Model;
import dev.tenon.Tenon;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Embedding, reranking and answering in one process. The encoders are of random weights: what they find is compared
/// with what they compute, not with sense.
class RetrievalTests {
    private static final List<String> FACTS = List.of(
            "The ship sails on Monday.",
            "The crew has nine sailors.",
            "Tea is served at five.",
            "The captain has a cat.",
            "There is snow on the deck.");
    private static final String QUESTION = "When does the ship sail?";

    private interface Captain {
        String ask(String question);
    }

    @Test
    void anAnswerIsFromWhatWasRetrieved() {
        List<String> asked = new ArrayList<>();
        ChatModelListener listener = new ChatModelListener() {
            @Override
            public void onRequest(ChatModelRequestContext context) {
                asked.add(((UserMessage) context.chatRequest().messages().getLast()).singleText());
            }
        };
        try (Model encoder =
                        Tenon.load(Embedded.GOLDEN.resolve("bert.q8_0.gguf").toString());
                Model reranker = Tenon.load(
                        Embedded.GOLDEN.resolve("bert-rerank.q8_0.gguf").toString())) {
            EmbeddingModel vectors =
                    TenonEmbeddingModel.builder().model(encoder).build();
            EmbeddingStore<TextSegment> store = new InMemoryEmbeddingStore<>();
            List<TextSegment> segments = FACTS.stream().map(TextSegment::from).toList();
            store.addAll(vectors.embedAll(segments).content(), segments);
            Captain captain = AiServices.builder(Captain.class)
                    .chatModel(Embedded.chat().listeners(listener).build())
                    .retrievalAugmentor(DefaultRetrievalAugmentor.builder()
                            .contentRetriever(EmbeddingStoreContentRetriever.builder()
                                    .embeddingModel(vectors)
                                    .embeddingStore(store)
                                    .maxResults(4)
                                    .build())
                            .contentAggregator(ReRankingContentAggregator.builder()
                                    .scoringModel(TenonScoringModel.builder()
                                            .model(reranker)
                                            .build())
                                    .maxResults(2)
                                    .build())
                            .build())
                    .build();
            assertEquals("It sails when it does.", captain.ask(QUESTION));
            List<String> expected = reranker.rerank(QUESTION, nearest(encoder)).stream()
                    .map(Model.Scored::document)
                    .limit(2)
                    .toList();
            assertEquals(1, asked.size());
            assertTrue(asked.getFirst().endsWith(String.join("\n\n", expected)), asked + ", expected " + expected);
            assertEquals(2, FACTS.stream().filter(asked.getFirst()::contains).count());
        }
    }

    private static List<String> nearest(Model encoder) {
        float[] question = encoder.embed(QUESTION);
        return FACTS.stream()
                .sorted(Comparator.comparingDouble(fact -> -dot(question, encoder.embed(fact))))
                .limit(4)
                .toList();
    }

    private static double dot(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }
}
