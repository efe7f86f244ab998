package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The models that people name: files, and what `pull` has stored.
public final class ModelFiles {
    private final Path folder;

    public ModelFiles(Path folder) {
        this.folder = folder;
    }

    /// {@return the folder of pulled models: setting `models`, or `~/.cache/tenon/models`}
    ///
    /// @param setting value of the setting, if there is one
    public static Path folder(Optional<String> setting) {
        return setting.map(Path::of)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".cache", "tenon", "models"));
    }

    /// Finds the file for a name: a path that exists, `hf:org/repo[:quant]`, or a pulled file's
    /// name with or without `.gguf`.
    ///
    /// @param name what the user gave
    /// @return the file, or the name as a path when nothing matches, so that loading reports it
    public Path find(String name) {
        if (HubReference.isReference(name)) {
            HubReference reference = HubReference.parse(name);
            return pulled(reference)
                    .orElseThrow(() -> new TenonException(
                            ErrorCode.IO,
                            "Model " + name + " is not in " + folder + ". Get it with: tenon pull " + name));
        }
        Path path;
        try {
            path = Path.of(name);
        } catch (InvalidPathException e) {
            throw new TenonException(
                    ErrorCode.IO, "'" + name + "' is not a path: " + e.getReason() + ". Check the path.", e);
        }
        if (Files.exists(path) || path.isAbsolute()) {
            return path;
        }
        return list().stream().filter(file -> matches(file, name)).findFirst().orElse(path);
    }

    /// {@return the pulled file that a reference means}
    ///
    /// @param reference repository and quant
    public Optional<Path> pulled(HubReference reference) {
        Path repo = folder.resolve(reference.owner()).resolve(reference.repo());
        List<String> names = list().stream()
                .filter(file -> file.startsWith(repo))
                .map(file -> repo.relativize(file).toString())
                .toList();
        return reference.choose(names).stream().findFirst().map(repo::resolve);
    }

    private boolean matches(Path file, String name) {
        String fileName = file.getFileName().toString();
        return fileName.equals(name)
                || fileName.equals(name + ".gguf")
                || folder.relativize(file).toString().equals(name);
    }

    private List<Path> list() {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder, 5)) {
            return files.filter(f -> f.getFileName().toString().endsWith(".gguf"))
                    .sorted()
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new TenonException(ErrorCode.IO, folder + " cannot be read: " + e.getMessage(), e);
        }
    }
}
