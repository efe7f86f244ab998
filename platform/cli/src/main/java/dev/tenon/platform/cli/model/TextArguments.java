package dev.tenon.platform.cli.model;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.options.TextInput;
import dev.tenon.platform.hub.ModelFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// A model and texts for it: what stands after a command without an option, or else the lines of a file or of
/// standard input.
///
/// @param model what to load; null for the configured one
/// @param texts at least one; none is blank
record TextArguments(String model, List<String> texts) {
    /// Reads the texts.
    ///
    /// @param console knows where pulled models are
    /// @param model the model that an option names, or null: then the first argument may be one
    /// @param arguments what stands after the command; null for nothing
    /// @param file its lines are the texts; null for none
    /// @param otherwise the texts where nothing else gives some; empty for those of standard input
    /// @return model and texts
    /// @throws TenonException (`CLI-001`) if texts are given twice, there are none, or one is blank; (`IO-001`,
    ///     `CLI-002`) if the file cannot be read
    static TextArguments read(Console console, String model, List<String> arguments, Path file, List<String> otherwise)
            throws IOException {
        List<String> given = arguments == null ? List.of() : arguments;
        ModelFiles files = new ModelFiles(ModelFiles.folder(console.setting("models")));
        boolean modelFirst = model == null && !given.isEmpty() && files.names(given.getFirst(), console::registries);
        String named = modelFirst ? given.getFirst() : model;
        List<String> texts = modelFirst ? given.subList(1, given.size()) : given;
        if (!texts.isEmpty() && file != null) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "'" + texts.getFirst() + "' and -f both give texts"
                            + (modelFirst || model != null
                                    ? ""
                                    : ", if the first is not meant as a model, which is not there")
                            + ". Give one of them.");
        }
        if (texts.isEmpty() && file == null) {
            texts = otherwise;
        }
        String what = "argument";
        if (texts.isEmpty()) {
            what = file != null ? "line of " + file : "line of standard input";
            texts = (file != null ? TextInput.file(file) : TextInput.all(console.in(), "standard input"))
                    .lines()
                    .toList();
        }
        if (texts.isEmpty()) {
            throw new TenonException(ErrorCode.USAGE, "There is no text. Give one, or a file with one a line (-f).");
        }
        for (int i = 0; i < texts.size(); i++) {
            if (texts.get(i).isBlank()) {
                throw new TenonException(
                        ErrorCode.USAGE,
                        "Text " + (i + 1) + " is blank; expected some text in each " + what + ". Leave it out.");
            }
        }
        return new TextArguments(named, texts);
    }
}
