package dev.tenon;

import java.util.Objects;

/// Loads models. The engine that runs them is made with the first model and closed with the last
/// one.
///
/// A model is named as on the command line:
///
/// | name | what it is |
/// | --- | --- |
/// | `models/story.gguf` | a file |
/// | `story-Q8_0` | a file that was downloaded before |
/// | `owner/repo`, `owner/repo:Q8_0`, `hf:owner/repo:Q8_0` | a model of the hub |
/// | `ollama:qwen3:0.6b` | a model of Ollama's library: its own copy where Ollama has pulled it on this machine |
/// | `https://example.org/story.gguf` | a file to download |
/// | `corp:team/model` | a model of a registry that a jar on the class path offers |
///
/// What is not on this machine is downloaded, once, to the folder of models
/// (`~/.cache/tenon/models`, or `TENON_MODELS`).
public final class Tenon {
    private Tenon() {}

    /// Loads a model as it is best for this machine, and downloads it if it is not here. Blocks.
    ///
    /// @param name which one, as above
    /// @return the model; the caller closes it
    /// @throws dev.tenon.api.error.TenonException as [ModelLoader#load()]
    public static Model load(String name) {
        return model(name).load();
    }

    /// Begins to say how a model is loaded.
    ///
    /// @param name which one, as above
    /// @return a loader with the defaults
    public static ModelLoader model(String name) {
        return new ModelLoader(Objects.requireNonNull(name, "name"));
    }
}
