package dev.tenon.platform.server.models;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.gguf.CompanionFile;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// A model that can be asked for.
///
/// @param name what requests call it
/// @param aliases further names; unmodifiable
/// @param request how it is loaded; outputs and sequences are the server's
/// @param sampling how tokens are sampled where a request says nothing
/// @param preset what else holds where a request says nothing
public record ModelSpec(
        String name, List<String> aliases, LoadRequest request, SamplingParams sampling, Preset preset) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}");

    /// Checks the names.
    ///
    /// @throws IllegalArgumentException if one is not made of letters, digits and `._:/@+-`, or holds `..`
    public ModelSpec {
        aliases = List.copyOf(aliases);
        requireName(name);
        aliases.forEach(ModelSpec::requireName);
    }

    /// Creates a model without a preset.
    ///
    /// @param name what requests call it
    /// @param aliases further names
    /// @param request how it is loaded
    /// @param sampling how tokens are sampled where a request says nothing
    public ModelSpec(String name, List<String> aliases, LoadRequest request, SamplingParams sampling) {
        this(name, aliases, request, sampling, Preset.none());
    }

    /// {@return a model without aliases, with default sampling}
    ///
    /// @param name what requests call it
    /// @param request how it is loaded
    public static ModelSpec of(String name, LoadRequest request) {
        return new ModelSpec(name, List.of(), request, SamplingParams.defaults());
    }

    /// {@return whether a text can be the name of a model}
    ///
    /// @param text what somebody gave
    public static boolean isName(String text) {
        return NAME.matcher(text).matches() && !text.contains("..");
    }

    /// {@return the companion that it is loaded with, which lets it see or hear, if there is one}
    public Optional<CompanionFile> companion() {
        return request.companion().flatMap(CompanionFile::read);
    }

    private static void requireName(String name) {
        if (!isName(name)) {
            throw new IllegalArgumentException(
                    "'" + name + "' is no name of a model; expected letters, digits and . _ : / @ + -");
        }
    }
}
