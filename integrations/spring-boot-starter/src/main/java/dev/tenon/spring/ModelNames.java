package dev.tenon.spring;

import org.jspecify.annotations.Nullable;

/// Names of models in options.
final class ModelNames {
    private ModelNames() {}

    /// Checks whether a model is the one that is asked for.
    ///
    /// @param asked its name; null if none is asked for
    /// @param name the model's name
    /// @throws IllegalArgumentException if it is another one
    static void check(@Nullable String asked, String name) {
        if (asked != null && !asked.equals(name)) {
            throw new IllegalArgumentException("The options ask for the model '" + asked + "'; this one is '" + name
                    + "'. Leave the model out of the options.");
        }
    }
}
