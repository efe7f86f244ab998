package dev.tenon.platform.core.control;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.util.List;

/// Asks architectures for models.
public final class Definitions {
    private Definitions() {}

    /// {@return the model that an architecture makes of a file}
    ///
    /// @param architecture the architecture
    /// @param source the file's metadata and tensors
    /// @param file what messages call the file
    /// @throws TenonException what the architecture says of the file; or (`MODEL-011`), naming its bundle, how it
    ///     failed instead
    public static ModelDefinition of(ModelArchitecture architecture, ModelSource source, String file) {
        try {
            return architecture.define(source);
        } catch (TenonException e) {
            throw e;
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
            String problem = e instanceof IllegalArgumentException && e.getMessage() != null
                    ? e.getMessage()
                    : "its code fails with " + e;
            throw new UnsupportedModelException(
                    file + " cannot be loaded",
                    List.of(Issue.error(
                            ErrorCode.MODEL_GRAPH,
                            architecture.id() + " (" + Origins.of(architecture) + ") defines no sound model: " + problem
                                    + ". Install a version of the bundle without this fault",
                            architecture.id())),
                    e);
        }
    }
}
