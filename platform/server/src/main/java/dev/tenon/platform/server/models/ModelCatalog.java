package dev.tenon.platform.server.models;

import java.util.List;
import java.util.Optional;

/// The models that can be asked for. Safe for any thread.
public interface ModelCatalog {
    /// {@return all models, in a fixed order}
    List<ServedModel> list();

    /// {@return the model of a name or alias}
    ///
    /// @param name what a request calls it
    Optional<ServedModel> find(String name);

    /// {@return the model that is meant where a request names none, if there is one}
    Optional<ServedModel> standard();
}
