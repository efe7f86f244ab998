package dev.tenon.platform.server.media;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.media.MediaKind;
import dev.tenon.platform.chat.Json;
import java.util.Optional;
import java.util.Set;

/// What a model takes beside text, as the server tells it.
public final class Modalities {
    private Modalities() {}

    /// {@return the JSON of `modalities`}
    ///
    /// @param model the model; empty while it is not loaded, and takes nothing
    public static ObjectNode of(Optional<LoadedModel> model) {
        Set<MediaKind> kinds = model.map(LoadedModel::media).orElse(Set.of());
        return Json.object()
                .put("vision", kinds.contains(MediaKind.PICTURE))
                .put("audio", kinds.contains(MediaKind.SOUND));
    }
}
