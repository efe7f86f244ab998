package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.control.UserFolders;
import dev.tenon.platform.core.gguf.CompanionFile;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The models that people name: files, and what `pull` has stored.
public final class ModelFiles {
    private final Path folder;

    /// @param folder where pulled models are
    public ModelFiles(Path folder) {
        this.folder = folder;
    }

    /// {@return the folder of pulled models: setting `models`, or `models` in the user's folder for caches}
    ///
    /// @param setting value of the setting, if there is one
    /// @throws TenonException (`CFG-001`) if it is something else than a folder
    public static Path folder(Optional<String> setting) {
        Path folder = setting.map(UserFolders::path)
                .orElseGet(() -> UserFolders.cache(System.getenv()).resolve("models"));
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "models is '" + folder + "', which is a file; expected the folder of pulled models. Change"
                            + " TENON_MODELS or etc/dev.tenon.platform.cli.cfg");
        }
        return folder;
    }

    /// Finds the file for a name: a path that exists, a pulled file's name with or without `.gguf`, or what
    /// [ModelReference] reads.
    ///
    /// @param name what the user gave
    /// @return the file, or the name as a path when nothing matches, so that loading reports it
    public Path find(String name) {
        Optional<Path> there = there(name);
        if (there.isPresent()) {
            return there.get();
        }
        if (isMissing(name)) {
            throw new TenonException(
                    ErrorCode.IO,
                    "There is no model " + name + ", neither as a file nor in " + folder + ". Get it with: tenon pull "
                            + name);
        }
        return path(name);
    }

    /// {@return whether a text names a model: a file, a pulled one, one of a registry, or a GGUF file that is missing}
    ///
    /// @param text what the user gave
    /// @param registries finds those that there are; called if the text may be of one
    public boolean names(String text, Supplier<ModelRegistries> registries) {
        return text.matches("(?i)\\S+\\.gguf")
                || there(text).filter(Files::isRegularFile).isPresent()
                || ModelReference.of(text)
                        .filter(named ->
                                named.isOnHub() || registries.get().registries().contains(named.registry()))
                        .isPresent();
    }

    /// {@return whether a name has the form of a model of a registry that is not here}
    ///
    /// @param name what the user gave
    public boolean isMissing(String name) {
        return ModelReference.of(name).isPresent() && there(name).isEmpty();
    }

    private Optional<Path> there(String name) {
        Optional<ModelReference> reference = ModelReference.of(name);
        if (HubReference.isReference(name)) {
            return reference.flatMap(this::pulled);
        }
        File file = new File(name); // of any text, as a path is not
        if (file.exists() || file.isAbsolute()) {
            return Optional.of(path(name));
        }
        Optional<Path> named =
                list().stream().filter(each -> matches(each, name)).findFirst();
        return named.isPresent() ? named : reference.flatMap(this::pulled);
    }

    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw new TenonException(
                    ErrorCode.IO, "'" + name + "' is not a path: " + e.getReason() + ". Check the path.", e);
        }
    }

    /// {@return the pulled file that a reference means}
    private Optional<Path> pulled(ModelReference reference) {
        Path place = folder.resolve(reference.place());
        List<String> names = list().stream()
                .filter(file -> file.startsWith(place) && !isCompanion(file))
                .map(file -> place.relativize(file).toString())
                .toList();
        return (reference.isOnHub()
                        ? HubReference.parse(reference.model()).choose(names).stream()
                                .map(List::getFirst)
                        : names.stream())
                .findFirst()
                .map(place::resolve);
    }

    /// {@return the folder of pulled models}
    public Path folder() {
        return folder;
    }

    /// {@return the pulled models, by name; parts of a split one count as one, and companions as none}
    public List<Pulled> models() {
        List<Path> all = list();
        return all.stream()
                .filter(file -> !isCompanion(file))
                .map(file -> model(file, all))
                .distinct()
                .sorted(Comparator.comparing(Pulled::name))
                .toList();
    }

    private static boolean isCompanion(Path file) {
        return CompanionFile.isNamed(file.getFileName().toString());
    }

    /// {@return the pulled model of a name, or the companion that has this name}
    ///
    /// @param name of [#models()], or what [ModelReference] reads
    public Optional<Pulled> model(String name) {
        List<Path> all = list();
        Optional<Path> named = all.stream().filter(file -> matches(file, name)).findFirst();
        return (named.isPresent() ? named : ModelReference.of(name).flatMap(this::pulled))
                .map(file -> model(file, all));
    }

    /// Deletes the file of a model with all its parts and the companions that no other model has, what is known of
    /// their origin, and the folders that hold nothing more.
    ///
    /// @param file a file in the folder; of a split model any part
    /// @return the companions that were deleted
    /// @throws IOException if one cannot be deleted
    public List<Path> delete(Path file) throws IOException {
        List<Path> parts = parts(file);
        List<Path> companions = companions(file, parts);
        for (Path each : Stream.concat(parts.stream(), companions.stream()).toList()) {
            Files.delete(each);
            Files.deleteIfExists(Origin.beside(each));
        }
        for (Path empty = file.getParent();
                empty.startsWith(folder) && !empty.equals(folder);
                empty = empty.getParent()) {
            try {
                Files.delete(empty);
            } catch (DirectoryNotEmptyException e) {
                break; // another model is in it
            }
        }
        return companions;
    }

    private static List<Path> parts(Path file) {
        return HubReference.parts(file.getFileName().toString()).stream()
                .map(file::resolveSibling)
                .filter(Files::exists)
                .toList();
    }

    /// {@return the companions of a model that no other one of its folder could have}
    private List<Path> companions(Path file, List<Path> parts) {
        List<CompanionFile> own = CompanionFile.all(file);
        if (own.isEmpty()) {
            return List.of();
        }
        Set<Path> others = models().stream()
                .map(model -> model.files().getFirst())
                .filter(first -> !parts.contains(first))
                .map(CompanionFile::all)
                .flatMap(List::stream)
                .map(CompanionFile::path)
                .collect(Collectors.toSet());
        return own.stream()
                .map(CompanionFile::path)
                .filter(path -> !others.contains(path))
                .toList();
    }

    private Pulled model(Path file, List<Path> all) {
        List<Path> parts = parts(file);
        String base = base(parts.getFirst());
        boolean alone = all.stream()
                .filter(other -> !parts.contains(other))
                .noneMatch(other -> base(other).equals(base));
        return new Pulled(
                alone ? base : folder.relativize(parts.getFirst()).toString().replaceFirst("\\.gguf$", ""), parts);
    }

    private static String base(Path file) {
        return file.getFileName().toString().replaceFirst("\\.gguf$", "");
    }

    private boolean matches(Path file, String name) {
        String wanted = name.endsWith(".gguf") ? name : name + ".gguf";
        return file.getFileName().toString().equals(wanted)
                || folder.relativize(file).toString().equals(wanted);
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
