package dev.tenon.spark.engine;

import dev.tenon.Model;
import dev.tenon.ModelLoader;
import dev.tenon.Tenon;
import dev.tenon.spark.RowEngine;
import dev.tenon.spark.TenonOptions;
import dev.tenon.spark.Work;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The models of this JVM: each is loaded once, for all tasks.
public final class ModelRows implements RowEngine {
    private static final Map<Place, Model> MODELS = new HashMap<>();

    /// Made by the service loader.
    public ModelRows() {}

    @Override
    public Answering begin(Place place, Work work, TenonOptions options) {
        boolean loads;
        Model model;
        synchronized (MODELS) {
            model = MODELS.get(place);
            loads = model == null;
            if (loads) {
                model = load(place);
                MODELS.put(place, model);
            }
        }
        return new TaskRows(model, loads, work, options);
    }

    /// {@return the models that there are}
    static List<Model> loaded() {
        synchronized (MODELS) {
            return List.copyOf(MODELS.values());
        }
    }

    private static Model load(Place place) {
        ModelLoader loader = Tenon.model(place.name()).requests(place.sequences());
        if (!place.backend().isEmpty()) {
            loader.backend(place.backend());
        }
        if (!place.device().isEmpty()) {
            loader.device(place.device());
        }
        if (place.threads() > 0) {
            loader.threads(place.threads());
        }
        if (place.contextLength() > 0) {
            loader.contextLength(place.contextLength());
        }
        if (place.embeds()) {
            loader.embeddings();
        }
        place.settings().forEach(loader::setting);
        return loader.load();
    }
}
