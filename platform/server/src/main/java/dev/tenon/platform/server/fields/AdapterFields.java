package dev.tenon.platform.server.fields;

import dev.tenon.api.engine.LoadRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The field `lora`: which of a model's adapters a request uses.
public final class AdapterFields {
    private static final int MOST = 64;
    private static final double MOST_SCALE = 1e6;

    private AdapterFields() {}

    /// {@return the scales of the adapters that are used, by name}
    ///
    /// @param body the request, with a list of objects with the number of an adapter and its scale
    /// @param request how the model was loaded
    /// @param otherwise what is returned if the request says nothing
    /// @throws dev.tenon.platform.server.http.RequestException (400) if there is no such adapter
    public static Map<String, Float> read(Body body, LoadRequest request, Map<String, Float> otherwise) {
        if (!body.has("lora")) {
            return otherwise;
        }
        List<LoadRequest.Adapter> adapters = request.adapters();
        Map<String, Float> scales = new LinkedHashMap<>();
        for (Body each : body.objects("lora", MOST)) {
            each.require("id");
            if (adapters.isEmpty()) {
                throw each.wrong("id", "no entry: the model has no adapters");
            }
            LoadRequest.Adapter adapter = adapters.get((int) each.whole("id", 0, adapters.size() - 1, 0));
            scales.put(adapter.name(), each.number("scale", -MOST_SCALE, MOST_SCALE, adapter.scale()));
        }
        return scales;
    }
}
