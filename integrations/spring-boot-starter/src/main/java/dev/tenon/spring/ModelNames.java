package dev.tenon.spring;

import dev.tenon.Model;
import org.jspecify.annotations.Nullable;

/// What models are called: their files' names, without the ending.
final class ModelNames {
    private ModelNames() {}

    static String of(Model model) {
        return model.loaded().file().path().getFileName().toString().replaceFirst("\\.gguf$", "");
    }

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
