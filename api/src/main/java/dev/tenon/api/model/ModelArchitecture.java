package dev.tenon.api.model;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.graph.Graph;
import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// A model architecture: a pure function from metadata to a graph. Stateless and safe for any thread.
///
/// The graph names its weights with their shapes; the platform checks them against the file
/// (missing, misshapen and undecodable tensors are reported together), so an architecture does not
/// have to.
///
/// Implemented by model bundles; found as OSGi service or through `ServiceLoader`.
@ConsumerType
public interface ModelArchitecture {
    /// {@return the value of `general.architecture` that it serves, such as `llama`}
    String id();

    /// Builds the model.
    ///
    /// @param source metadata and tensor descriptions
    /// @return configuration and graph
    /// @throws dev.tenon.api.error.ModelFormatException if metadata is missing, of the wrong type or
    ///     impossible
    /// @throws dev.tenon.api.error.UnsupportedModelException if the file asks for something that is not
    ///     implemented, naming key and value
    ModelDefinition define(ModelSource source);

    /// Tells whether the model is whole without a tensor that its graph does not use, such as a layer that
    /// only training needs. By default no tensor of a file may be left over: one is usually a part of the
    /// model that the architecture does not implement, and the logits are wrong without it.
    ///
    /// @param source metadata and tensor descriptions
    /// @param tensor name of a tensor of the source that the graph does not use
    /// @return whether the platform loads the model all the same
    default boolean ignores(ModelSource source, String tensor) {
        return false;
    }

    /// Gives the graph of the model's head for further tokens (multi-token prediction), which proposes
    /// them where that is asked for (`speculate = head`). By default a model has none.
    ///
    /// For the token at position `p` it reads, as a [row][dev.tenon.api.graph.GivenRows], the hidden
    /// state of position `p - 1`, zeros at position 0: a row of the output [Graph#HIDDEN_ROWS] that the
    /// graph of [#define] has, or of its own output [Graph#HIDDEN]. Its logits guess the token at
    /// `p + 1`. It has a KV cache, but no states.
    ///
    /// @param source metadata and tensor descriptions
    /// @return the graph, whose first op looks tokens up; empty if the file says of no head
    /// @throws dev.tenon.api.error.ModelFormatException as [#define]
    /// @throws dev.tenon.api.error.UnsupportedModelException as [#define]
    default Optional<Graph> head(ModelSource source) {
        return Optional.empty();
    }

    /// Gives the chat template of a file that has none, or whose own (`tokenizer.chat_template`) is known to
    /// be wrong. It takes the place of all templates of the file. By default those of the file are used.
    /// Asked whenever a template is wanted, also for files that are not loaded.
    ///
    /// @param metadata the file's metadata
    /// @return the template's text, as a file would have it; empty for the file's own
    default Optional<String> chatTemplate(GgufMetadata metadata) {
        return Optional.empty();
    }
}
