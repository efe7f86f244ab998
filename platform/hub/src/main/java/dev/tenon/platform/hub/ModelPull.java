package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Downloads models of a hub or of a web address, with all their parts. Resumes what was
/// interrupted.
public final class ModelPull {
    /// How long to wait before a failed request is sent again; doubles with each failure.
    public static final Duration PAUSE = Duration.ofMillis(500);

    private static final String HUB = "https://huggingface.co";

    private final Function<String, Optional<String>> settings;
    private final PullListener listener;
    private final Duration pause;
    private final Duration stall;

    /// @param settings values of the settings `hf.url` and `hf.token`, where they are set
    /// @param listener hears how downloads go
    public ModelPull(Function<String, Optional<String>> settings, PullListener listener) {
        this(settings, listener, PAUSE, HttpGet.PATIENCE);
    }

    /// @param settings values of the settings `hf.url` and `hf.token`, where they are set
    /// @param listener hears how downloads go
    /// @param pause how long to wait before a failed request is sent again; doubles with each
    ///     failure
    /// @param stall how long a server may be silent
    public ModelPull(
            Function<String, Optional<String>> settings, PullListener listener, Duration pause, Duration stall) {
        this.settings = settings;
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
    public record Target(Path folder, Path output, boolean isFolder, String sha256, boolean overwrite) {
        /// {@return a place in the folder of models}
        ///
        /// @param folder the folder
        public static Target in(Path folder) {
            return new Target(folder, null, true, null, false);
        }

        private boolean isFile() {
            return output != null && !isFolder;
        }

        private Path orOutput(Path other) {
            return output == null ? other : output;
        }
    }

    /// Downloads a model of the hub.
    ///
    /// @param reference the model
    /// @param target where it goes; in the folder of models to `owner/repo`
    /// @return its files
    /// @throws TenonException (`CLI-001`) if the target does not suit it; (`IO-002`) if it cannot
    ///     be had
    /// @throws IOException if it cannot be stored
    public List<Path> pull(HubReference reference, Target target) throws IOException {
        try (HttpGet http = http()) {
            List<Hub.HubFile> files = new Hub(hub(), http).files(reference);
            requireAll(reference, files);
            requireFit(reference, target, files.size());
            Path base =
                    target.orOutput(target.folder().resolve(reference.owner()).resolve(reference.repo()));
            List<Path> targets = new ArrayList<>();
            for (Hub.HubFile file : files) {
                String name = target.output() == null
                        ? file.name()
                        : file.name().substring(file.name().lastIndexOf('/') + 1);
                Path path = target.isFile() ? base : path(base, name, reference.toString());
                if (!target.isFile() && !path.startsWith(base)) {
                    throw new TenonException(
                            ErrorCode.DOWNLOAD,
                            reference + " has a file with a path outside the target folder: " + file.name() + ".");
                }
                targets.add(path);
            }
            for (int i = 0; i < files.size(); i++) {
                Hub.HubFile file = files.get(i);
                String sum = target.sha256() != null ? target.sha256() : file.sha256();
                pull(http, new Downloader.Wanted(file.uri(), file.size(), sum), targets.get(i), target.overwrite());
            }
            together(targets, reference.toString());
            return targets;
        }
    }

    private static void requireAll(HubReference reference, List<Hub.HubFile> files) {
        List<String> names = files.stream().map(Hub.HubFile::name).toList();
        List<String> missing = new ArrayList<>(HubReference.parts(names.getFirst()));
        missing.removeAll(names);
        if (!missing.isEmpty()) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    reference + " is incomplete on the hub: it has no " + String.join(", ", missing)
                            + ". Choose another quantisation or repository.");
        }
    }

    private static void requireFit(HubReference reference, Target target, int parts) {
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
        try (HttpGet http = http()) {
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

    private URI hub() {
        String address = settings.apply("hf.url").orElse(HUB);
        return web(address)
                .orElseThrow(() -> new TenonException(
                        ErrorCode.CONFIG, "TENON_HF_URL is '" + address + "'; expected an http or https address."));
    }

    private HttpGet http() {
        String token = settings.apply("hf.token").orElse(System.getenv("HF_TOKEN"));
        return new HttpGet(token == null || token.isBlank() ? null : token.strip(), hub(), stall);
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
