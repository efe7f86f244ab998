package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// `POST /rerank`: orders documents by how well they answer a query.
///
/// @param generations finds models
public record RerankEndpoint(Generations generations) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of("model query documents top_n return_documents", "", Map.of());

    private static final String DOCUMENTS = "documents";
    private static final int MOST_DOCUMENTS = 2048;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        String query = body.requiredText("query");
        List<String> documents = documents(body);
        int most = (int) body.whole("top_n", 1, Integer.MAX_VALUE, documents.size());
        boolean texts = body.flag("return_documents", false);
        ServedModel served = generations.model(body.text("model"));
        exchange.interruptWhenClientLeaves();
        RerankRequest.Builder request = RerankRequest.builder(query);
        documents.forEach(request::document);
        float[] scores;
        int count = 0;
        try (ServedModel.Lease lease = served.lease()) {
            LoadedModel model = lease.model();
            if (!model.outputs().containsKey(Graph.SCORES)) {
                throw RequestException.unsupported("model", "This model scores no documents; name a reranker.");
            }
            int queryTokens = model.tokenizer().encode(query, true, false).length;
            for (String document : documents) {
                count += queryTokens + model.tokenizer().encode(document, false, false).length;
            }
            try (Generations.Turn turn = generations.enter(exchange, served, 0)) {
                scores = Generations.whenFree(() -> model.rerank(request.build()));
            }
        }
        exchange.note("model=" + served.spec().name() + " documents=" + documents.size() + " prompt=" + count);
        ObjectNode answer = Json.object().put("model", served.spec().name()).put("object", "list");
        answer.putObject("usage").put("prompt_tokens", count).put("total_tokens", count);
        ArrayNode results = answer.putArray("results");
        IntStream.range(0, scores.length)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer index) -> scores[index])
                        .reversed())
                .limit(most)
                .forEach(index -> {
                    ObjectNode result = results.addObject().put("index", index).put("relevance_score", scores[index]);
                    if (texts) {
                        result.putObject("document").put("text", documents.get(index));
                    }
                });
        exchange.json(answer);
    }

    /// The documents: texts, or objects with a text.
    private static List<String> documents(Body body) {
        body.require(DOCUMENTS);
        List<String> documents = new ArrayList<>();
        for (JsonNode document : body.array(DOCUMENTS, MOST_DOCUMENTS)) {
            JsonNode text = document.isObject() ? document.path("text") : document;
            if (!text.isTextual()) {
                throw body.wrong(DOCUMENTS, "strings, or objects with a text");
            }
            documents.add(text.asText());
        }
        if (documents.isEmpty()) {
            throw RequestException.invalid(DOCUMENTS, "documents is empty; expected at least one.");
        }
        return documents;
    }
}
