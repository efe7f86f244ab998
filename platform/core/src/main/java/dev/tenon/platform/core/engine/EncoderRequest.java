package dev.tenon.platform.core.engine;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import java.util.HashMap;
import java.util.Map;

/// How the encoder of a companion file is loaded.
final class EncoderRequest {
    private EncoderRequest() {}

    /// {@return a request for the companion of a model}
    ///
    /// @param model how the model is loaded; it has a companion
    static LoadRequest of(LoadRequest model) {
        Map<String, String> settings = new HashMap<>(model.settings());
        settings.put("speculate", "off");
        settings.put("prefix.cache", "off");
        return LoadRequest.builder(model.companion().orElseThrow())
                .backend(model.backend())
                .device(model.device())
                .threads(model.threads())
                .maxSequences(1)
                .keyType(KvType.F32) // of one step, so that it costs little
                .valueType(KvType.F32)
                .fuse(model.fuse())
                .checkData(model.checkData())
                .settings(settings)
                .build();
    }
}
