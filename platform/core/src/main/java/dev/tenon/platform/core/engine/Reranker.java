package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.graph.Graph;
import dev.tenon.platform.core.control.ModelPurpose;
import java.util.List;

/// Scores documents: runs each with the query, and makes one number of the scores of the model's labels.
final class Reranker {
    private final PlacedModel model;
    private final List<int[]> texts;
    private final int width;
    private final int label;
    private final float[] scores;

    Reranker(PlacedModel model, RerankRequest request) {
        this.model = model;
        this.width = model.width(Graph.SCORES);
        this.label = label(model);
        RerankPrompt prompt = new RerankPrompt(model.file().metadata(), model.tokenizer());
        this.texts = request.documents().stream()
                .map(document -> prompt.tokens(request.query(), document))
                .toList();
        this.scores = new float[texts.size()];
    }

    /// The label that says that a document answers the query: `yes`, or the first one.
    private static int label(PlacedModel model) {
        String[] labels = ModelPurpose.labels(model.file().metadata());
        for (int i = 0; i < Math.min(labels.length, model.width(Graph.SCORES)); i++) {
            if (labels[i].equalsIgnoreCase("yes")) {
                return i;
            }
        }
        return 0;
    }

    /// {@return the score of each document}
    float[] run() {
        new TextRunner(model, texts, this::score).run();
        return scores;
    }

    private void score(Session session, int index, int[] text) {
        session.evaluate(
                text, Rows.LAST, Graph.SCORES, (i, row) -> scores[index] = width == 1 ? row[0] : softmax(row, label));
    }

    private static float softmax(float[] row, int label) {
        double sum = 0;
        for (float score : row) {
            sum += Math.exp((double) score - row[label]);
        }
        return (float) (1 / sum);
    }
}
