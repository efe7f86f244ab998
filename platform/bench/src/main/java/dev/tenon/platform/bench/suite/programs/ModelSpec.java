package dev.tenon.platform.bench.suite.programs;

import dev.tenon.platform.tools.gguf.SynthShape;

/// A model that a program measures.
///
/// @param preset name of its shape, one of [SynthShape#presetNames()]
/// @param type weight format or mix
/// @param layers its layers; 0 for those of the shape
record ModelSpec(String preset, String type, int layers) {
    ModelSpec(String preset, String type) {
        this(preset, type, 0);
    }

    /// {@return the shape}
    SynthShape shape() {
        SynthShape shape = SynthShape.preset(preset);
        return layers == 0 ? shape : shape.toBuilder().layers(layers).build();
    }

    /// {@return the model with fewer layers}
    ModelSpec cutTo(int fewer) {
        return new ModelSpec(preset, type, fewer);
    }

    /// {@return how cases are named}
    String label() {
        return preset + " " + type + (layers == 0 ? "" : " of " + layers + " layers");
    }

    /// {@return the name of its file}
    String fileName() {
        return preset + (layers == 0 ? "" : "-" + layers + "-layers") + "-" + type.toLowerCase(java.util.Locale.ROOT)
                + ".gguf";
    }
}
