package dev.tenon.platform.server.command;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.server.models.ModelSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/// The models in a folder, named by their paths below it.
///
/// @param folder the folder
/// @param spec makes a model of a name and a file
record ModelFolder(Path folder, BiFunction<String, Path, ModelSpec> spec) {
    private static final int DEPTH = 5;
    private static final String ENDING = ".gguf";
    private static final String LATER_PART = ".*-(?!00001)\\d{5}-of-\\d{5}\\.gguf";

    /// {@return the models that are there now; files whose name no request could hold are left out}
    List<ModelSpec> models() {
        try (Stream<Path> files = Files.walk(folder, DEPTH)) {
            return files.filter(Files::isRegularFile)
                    .filter(file ->
                            file.toString().endsWith(ENDING) && !file.toString().matches(LATER_PART))
                    .map(file -> folder.relativize(file).toString().replace('\\', '/'))
                    .filter(name -> name.matches("[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}") && !name.contains(".."))
                    .sorted()
                    .map(name -> spec.apply(name.substring(0, name.length() - ENDING.length()), folder.resolve(name)))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new TenonException(
                    ErrorCode.IO, folder + " cannot be read: " + e.getMessage() + ". Check --models-dir.", e);
        }
    }

    /// {@return a name for the file of a model, made of its own}
    ///
    /// @param request how it is loaded
    static String name(LoadRequest request) {
        String name = request.path().getFileName().toString().replaceFirst("(?i)\\.gguf$", "");
        String plain = name.replaceAll("[^A-Za-z0-9._:/@+-]", "-");
        return plain.matches("[A-Za-z0-9].*") ? plain : "model-" + plain;
    }
}
