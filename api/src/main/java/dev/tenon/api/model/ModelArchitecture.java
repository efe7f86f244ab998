package dev.tenon.api.model;

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
}
