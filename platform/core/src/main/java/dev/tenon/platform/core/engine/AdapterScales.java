package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The factors on what the adapters of a model add, in the order of its request.
final class AdapterScales {
    private AdapterScales() {}

    /// {@return those with which new sessions use the adapters}
    ///
    /// @param request how the model is loaded
    static float[] initial(LoadRequest request) {
        return of(
                request,
                request.adapters().stream()
                        .collect(Collectors.toMap(LoadRequest.Adapter::name, LoadRequest.Adapter::scale)));
    }

    /// {@return those that a session chooses; 0 for adapters that it does not name}
    ///
    /// @param request how the model is loaded
    /// @param chosen scales by name
    /// @throws TenonException (`STATE-002`) if the model was loaded without one, or a scale is no finite number
    static float[] of(LoadRequest request, Map<String, Float> chosen) {
        List<String> names =
                request.adapters().stream().map(LoadRequest.Adapter::name).toList();
        float[] scales = new float[names.size()];
        chosen.forEach((name, scale) -> {
            int index = names.indexOf(name);
            if (index < 0 || !Float.isFinite(scale)) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "Adapter " + name + " is asked for with scale " + scale + "; expected a finite number and one"
                                + " of the adapters that the model was loaded with: "
                                + (names.isEmpty() ? "none" : String.join(", ", names)));
            }
            scales[index] = scale;
        });
        return scales;
    }
}
