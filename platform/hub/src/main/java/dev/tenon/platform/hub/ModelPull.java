package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.registry.ModelRegistry;
import dev.tenon.api.registry.RegistryFile;
import dev.tenon.platform.core.control.ModelRegistries;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/// Downloads models of registries or of a web address, with all their parts, and those of registries with their
/// companions. Resumes what was interrupted.
public final class ModelPull {
    /// How long to wait before a failed request is sent again; doubles with each failure.
    public static final Duration PAUSE = Duration.ofMillis(500);

    private final ModelRegistries registries;
    /// By the settings of whoever downloads.
    private final Hub hub;
    private final PullListener listener;
    private final Duration pause;
    private final Duration stall;

    /// @param registries where models come from
    /// @param settings values of the settings `hf.url` and `hf.token`, where they are set
    /// @param listener hears how downloads go
    public ModelPull(ModelRegistries registries, Function<String, Optional<String>> settings, PullListener listener) {
        this(registries, settings, listener, PAUSE, HttpGet.PATIENCE);
    }

    /// @param registries where models come from
    /// @param settings values of the settings `hf.url` and `hf.token`, where they are set
    /// @param listener hears how downloads go
    /// @param pause how long to wait before a failed request is sent again; doubles with each
    ///     failure
    /// @param stall how long a server may be silent
    public ModelPull(
            ModelRegistries registries,
            Function<String, Optional<String>> settings,
            PullListener listener,
            Duration pause,
            Duration stall) {
        this.registries = registries;
        hub = new Hub(settings, stall);
        this.listener = listener;
        this.pause = pause;
        this.stall = stall;
    }

    /// Where a download goes.
    ///
    /// @param folder the folder of models
    /// @param output what is asked for instead, or null
    /// @param isFolder whether `output` is a folder
    /// @param sha256 the expected checksum in hexadecimal, or null
    /// @param overwrite whether a file that is there is replaced unasked
    /// @param companion whether the companion of a model that sees or hears comes with it
    public record Target(
            Path folder, Path output, boolean isFolder, String sha256, boolean overwrite, boolean companion) {
        /// {@return a place in the folder of models}
        ///
        /// @param folder the folder
        public static Target in(Path folder) {
            return new Target(folder, null, true, null, false, true);
        }

        private boolean isFile() {
            return output != null && !isFolder;
        }

        private Path orOutput(Path other) {
            return output == null ? other : output;
        }
    }

    /// Downloads a model of a registry.
    ///
    /// @param reference the model
    /// @param target where it goes; in the folder of models to a folder of its own
    /// @return its files, the companion last; that lies beside the model
    /// @throws TenonException (`CLI-001`) if there is no such registry, or the target does not suit
    ///     the model; (`IO-002`) if it cannot be had; what else the registry says
    /// @throws IOException if it cannot be stored
    public List<Path> pull(ModelReference reference, Target target) throws IOException {
        List<RegistryFile> files = files(reference).stream()
                .filter(file -> target.companion() || !isCompanion(file))
                .toList();
        int parts = (int) files.stream().takeWhile(file -> !isCompanion(file)).count();
        requireFit(reference, target, parts);
        Path base = target.orOutput(target.folder().resolve(reference.place()));
        List<Path> targets = new ArrayList<>();
        for (RegistryFile file : files) {
            boolean flat = target.output() != null || isCompanion(file);
            String name = flat ? file.name().substring(file.name().lastIndexOf('/') + 1) : file.name();
            Path path = isCompanion(file)
                    ? targets.getFirst().resolveSibling(path(Path.of(""), name, reference.toString()))
                    : target.isFile() ? base : path(base, name, reference.toString());
            if (!target.isFile() && !path.startsWith(base)) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        reference + " has a file with a path outside the target folder: " + file.name() + ".");
            }
            targets.add(path);
        }
        for (int i = 0; i < files.size(); i++) {
            RegistryFile file = files.get(i);
            String known = file.sha256().isEmpty() ? null : file.sha256();
            String sum = target.sha256() != null && !isCompanion(file) ? target.sha256() : known;
            try (HttpGet http = new HttpGet(file.headers(), file.uri(), stall)) {
                pull(http, new Downloader.Wanted(file.uri(), file.size(), sum), targets.get(i), target.overwrite());
            }
        }
        together(targets.subList(0, parts), reference.toString());
        return targets;
    }

    private static boolean isCompanion(RegistryFile file) {
        return CompanionFile.isNamed(file.name());
    }

    /// Finds a model that its registry has on this machine, to be used where it is. The hub is not asked.
    ///
    /// @param reference the model
    /// @return its file, or the first one of its parts; empty if it has to be downloaded
    /// @throws TenonException as above
    public Optional<Path> inPlace(ModelReference reference) {
        if (reference.isOnHub()) {
            return Optional.empty();
        }
        List<URI> uris = files(reference).stream().map(RegistryFile::uri).toList();
        return uris.stream().allMatch(uri -> uri.getScheme().equals("file"))
                ? Optional.of(Path.of(uris.getFirst()))
                : Optional.empty();
    }

    /// The hub's own registry is asked by the settings of this download, and where nobody knows of registries.
    private List<RegistryFile> files(ModelReference reference) {
        ModelRegistry registry = registries.registry(reference.registry()).orElse(null);
        List<RegistryFile> files;
        if (reference.isOnHub() && (registry == null || registry instanceof HubRegistry)) {
            files = hub.files(HubReference.parse(reference.model()));
        } else if (registry == null) {
            Set<String> ids = new TreeSet<>(registries.registries());
            ids.add(HubRegistry.ID);
            throw usage("There is no registry '" + reference.registry() + "' for " + reference + "; there are "
                    + String.join(", ", ids) + ". Name one of them, a file, or owner/repo[:quant] on the hub.");
        } else {
            files = files(registry, reference).stream()
                    .sorted(Comparator.comparing(ModelPull::isCompanion))
                    .toList();
            files.forEach(file -> requireSafe(reference, file.uri()));
        }
        requireAll(reference, files);
        return files;
    }

    private static List<RegistryFile> files(ModelRegistry registry, ModelReference reference) {
        try {
            return List.copyOf(registry.files(reference.model()));
        } catch (TenonException e) {
            throw e;
        } catch (RuntimeException | LinkageError e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    "The registry '" + reference.registry() + "' failed at " + reference + ": " + e
                            + ". Update or remove its bundle.",
                    e);
        }
    }

    private static void requireSafe(ModelReference reference, URI uri) {
        try {
            if (uri.getScheme().equals("http") && !HttpGet.isThisMachine(uri)) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        reference + " would come from " + uri + "; expected https, or http of this machine.");
            }
        } catch (UnknownHostException e) {
            throw new TenonException(ErrorCode.DOWNLOAD, uri + ": there is no such host.", e);
        }
    }

    private static void requireAll(ModelReference reference, List<RegistryFile> files) {
        List<String> names = files.stream().map(RegistryFile::name).toList();
        if (names.isEmpty()
                || isCompanion(files.getFirst())
                || Set.copyOf(names).size() < names.size()) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    "The registry has for " + reference + " the files " + names
                            + "; expected at least one of a model, each once. Update or remove its bundle.");
        }
        List<String> missing = new ArrayList<>(HubReference.parts(names.getFirst()));
        missing.removeAll(names);
        if (!missing.isEmpty()) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    reference + " is incomplete: its registry has no " + String.join(", ", missing)
                            + ". Choose another model.");
        }
    }

    private static void requireFit(ModelReference reference, Target target, int parts) {
        if (parts > 1 && target.isFile()) {
            throw usage("-o needs a folder, because " + reference + " has " + parts + " parts.");
        }
        if (parts > 1 && target.sha256() != null) {
            throw usage("--sha256 needs a single file, but " + reference + " has " + parts + " parts.");
        }
    }

    /// Downloads a model from an address; the address of one of several parts means all, unless
    /// they are to get another name or checksum.
    ///
    /// @param uri an `http` or `https` address with a host
    /// @param target where it goes
    /// @return its files
    /// @throws TenonException (`CLI-001`) if the address does not end in a name; (`IO-002`) if it
    ///     cannot be had
    /// @throws IOException if it cannot be stored
    public List<Path> pull(URI uri, Target target) throws IOException {
        String path = uri.getPath() == null ? "" : uri.getPath();
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (!target.isFile() && (name.isEmpty() || name.equals("..") || name.equals(".") || name.contains("\\"))) {
            throw usage("'" + uri + "' does not end in a file name; give one with -o.");
        }
        Path base = target.orOutput(target.folder());
        List<String> parts = HubReference.parts(name);
        String raw = uri.toString();
        boolean split = parts.size() > 1 && !target.isFile() && target.sha256() == null && raw.contains(name);
        List<Path> targets = new ArrayList<>();
        try (HttpGet http = new HttpGet(hub.headers(), hub.address(), stall)) {
            for (String part : split ? parts : List.of(name)) {
                targets.add(target.isFile() ? base : path(base, part, raw));
                URI from = split ? URI.create(raw.replace(name, part)) : uri;
                pull(http, new Downloader.Wanted(from, -1, target.sha256()), targets.getLast(), target.overwrite());
            }
        }
        if (split) {
            together(targets, raw);
        } else if (parts.size() > 1) {
            listener.note("This is one of " + parts.size() + " parts; the model needs all of them in one folder.");
        }
        return targets;
    }

    private void pull(HttpGet http, Downloader.Wanted wanted, Path target, boolean overwrite) throws IOException {
        new Downloader(http, listener, pause).download(wanted, target, overwrite);
        listener.stored(target);
    }

    /// Checks that parts are parts of one model.
    private void together(List<Path> parts, String source) {
        if (parts.size() == 1) {
            return;
        }
        try (GgufFile file = GgufReader.open(parts.getFirst(), TensorTypes.standard())) {
            listener.note(parts.size() + " parts, " + file.tensors().size() + " tensors.");
        } catch (UnsupportedModelException e) {
            listener.note(e.getMessage());
        } catch (ModelFormatException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, "The parts of " + source + " do not belong together: " + e.getMessage(), e);
        }
    }

    private static Path path(Path folder, String name, String source) {
        try {
            return folder.resolve(name).normalize();
        } catch (InvalidPathException e) {
            throw usage("'" + source + "' has no usable file name: " + e.getReason() + ".");
        }
    }

    /// {@return an `http` or `https` address with a host, if a text is one}
    ///
    /// @param text what the user gave
    public static Optional<URI> web(String text) {
        try {
            URI uri = new URI(text);
            boolean usable =
                    uri.getHost() != null && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()));
            return usable ? Optional.of(uri) : Optional.empty();
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    private static TenonException usage(String text) {
        return new TenonException(ErrorCode.USAGE, text);
    }
}
