package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.http.HttpGet;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `tenon pull`: downloads a model.
@Command(
        name = "pull",
        description = {
            "Downloads a model from the hub or from a URL; resumes an interrupted download.",
            "Models are kept in ~/.cache/tenon/models, or where TENON_MODELS points.",
            "HF_TOKEN gives access to restricted repositories."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon pull org/repo-GGUF",
            "  tenon pull org/repo-GGUF:Q8_0",
            "  tenon pull https://example.org/model.gguf --sha256 0123abcd...",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=pull",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class PullCommand implements TenonCommand {
    private static final String HUB = "https://huggingface.co";

    @ParentCommand
    Console console;

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "SOURCE",
            description = "owner/repo[:quant] on the hub (default quant: Q4_K_M), or an http(s) URL.")
    private String source;

    @Option(names = "--sha256", paramLabel = "HEX", description = "The expected checksum of a file from a URL.")
    private String sha256;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "The file or folder to write to (default: the models folder).")
    private String output;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Download the file even if it exists, and replace it without asking.")
    private boolean overwrite;

    /// Whether the user asked for something else, and the model is needed for that.
    private boolean onTheWay;

    Duration pause = Duration.ofMillis(500);
    Duration stall = HttpGet.PATIENCE;

    /// Downloads a model that another command needs.
    ///
    /// @param console of that command
    /// @param source `owner/repo[:quant]`
    /// @throws TenonException (`CLI-001`) if it has another form; (`IO-002`) if it cannot be had
    /// @throws IOException if it cannot be stored
    public static void pull(Console console, String source) throws IOException {
        HubReference.parse(source);
        PullCommand command = new PullCommand();
        command.console = console;
        command.source = source;
        command.onTheWay = true;
        command.call();
    }

    @Override
    public Integer call() throws IOException {
        if (sha256 != null && !sha256.matches("[0-9a-fA-F]{64}")) {
            throw usage("Invalid value for option '--sha256': expected 64 hexadecimal digits");
        }
        Path folder = ModelFiles.folder(console.setting("models"));
        String address = console.setting("hf.url").orElse(HUB);
        URI hub = web(address)
                .orElseThrow(() -> new TenonException(
                        ErrorCode.CONFIG, "TENON_HF_URL is '" + address + "'; expected an http or https address."));
        String token = console.setting("hf.token").orElse(System.getenv("HF_TOKEN"));
        try (HttpGet http = new HttpGet(token == null || token.isBlank() ? null : token.strip(), hub, stall)) {
            Downloader downloader = new Downloader(http, console, pause);
            if (HubReference.isReference(source) || HubReference.looksLike(source)) {
                pullReference(new Hub(hub, http), downloader, folder);
            } else {
                pullUrl(downloader, folder);
            }
        }
        return 0;
    }

    private void pullReference(Hub hub, Downloader downloader, Path folder) throws IOException {
        HubReference reference = HubReference.parse(source);
        List<Hub.HubFile> files = hub.files(reference);
        List<String> names = files.stream().map(Hub.HubFile::name).toList();
        List<String> missing = new ArrayList<>(HubReference.parts(names.getFirst()));
        missing.removeAll(names);
        if (!missing.isEmpty()) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD,
                    source + " is incomplete on the hub: it has no " + String.join(", ", missing)
                            + ". Choose another quantisation or repository.");
        }
        Optional<Path> given = output();
        boolean toFile = given.isPresent() && !isFolder();
        if (files.size() > 1 && toFile) {
            throw usage("-o needs a folder, because " + source + " has " + files.size() + " parts");
        }
        if (files.size() > 1 && sha256 != null) {
            throw usage("--sha256 needs a single file, but " + source + " has " + files.size() + " parts");
        }
        Path repo = folder.resolve(reference.owner()).resolve(reference.repo());
        Path base = given.orElse(repo);
        List<Path> targets = new ArrayList<>();
        for (Hub.HubFile file : files) {
            String name = given.isPresent() ? file.name().substring(file.name().lastIndexOf('/') + 1) : file.name();
            Path target = toFile ? base : path(base, name);
            if (!toFile && !target.startsWith(base)) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        source + " has a file with a path outside the target folder: " + file.name() + ".");
            }
            targets.add(target);
        }
        for (int i = 0; i < files.size(); i++) {
            Hub.HubFile file = files.get(i);
            String sum = sha256 != null ? sha256 : file.sha256();
            pull(downloader, new Downloader.Wanted(file.uri(), file.size(), sum), targets.get(i));
        }
        together(targets);
        if (onTheWay) {
            return;
        }
        console.note("Use it with: tenon run -m " + (given.isPresent() ? targets.getFirst() : source));
    }

    private void pullUrl(Downloader downloader, Path folder) throws IOException {
        URI uri = web(source)
                .orElseThrow(() -> usage("'" + source + "' is neither owner/repo[:quant] nor an http(s) URL"));
        String path = uri.getPath() == null ? "" : uri.getPath();
        String name = path.substring(path.lastIndexOf('/') + 1);
        Optional<Path> given = output();
        boolean toFile = given.isPresent() && !isFolder();
        if (!toFile && (name.isEmpty() || name.equals("..") || name.equals(".") || name.contains("\\"))) {
            throw usage("'" + source + "' does not end in a file name; give one with -o");
        }
        Path base = given.orElse(folder);
        List<String> parts = HubReference.parts(name);
        String raw = uri.toString();
        boolean split = parts.size() > 1 && !toFile && sha256 == null && raw.contains(name);
        List<Path> targets = new ArrayList<>();
        for (String part : split ? parts : List.of(name)) {
            targets.add(toFile ? base : path(base, part));
            URI from = split ? URI.create(raw.replace(name, part)) : uri;
            pull(downloader, new Downloader.Wanted(from, -1, sha256), targets.getLast());
        }
        if (split) {
            together(targets);
        } else if (parts.size() > 1) {
            console.note("This is one of " + parts.size() + " parts; the model needs all of them in one folder.");
        }
        console.note("Use it with: tenon run -m " + (given.isPresent() ? targets.getFirst() : parts.getFirst()));
    }

    private void pull(Downloader downloader, Downloader.Wanted wanted, Path target) throws IOException {
        downloader.download(wanted, target, overwrite);
        if (!onTheWay) {
            console.out().println(target);
        }
    }

    /// Checks that parts are parts of one model.
    private void together(List<Path> parts) {
        if (parts.size() == 1) {
            return;
        }
        try (GgufFile file = GgufReader.open(parts.getFirst(), TensorTypes.standard())) {
            console.note(parts.size() + " parts, " + file.tensors().size() + " tensors.");
        } catch (UnsupportedModelException e) {
            console.note(e.getMessage());
        } catch (ModelFormatException e) {
            throw new TenonException(
                    ErrorCode.DOWNLOAD, "The parts of " + source + " do not belong together: " + e.getMessage(), e);
        }
    }

    private Optional<Path> output() {
        try {
            return Optional.ofNullable(output).map(Path::of);
        } catch (InvalidPathException e) {
            throw usage("Invalid value for option '--output': " + e.getMessage());
        }
    }

    private boolean isFolder() {
        return output.endsWith("/") || output.endsWith(File.separator) || Files.isDirectory(Path.of(output));
    }

    private Path path(Path folder, String name) {
        try {
            return folder.resolve(name).normalize();
        } catch (InvalidPathException e) {
            throw usage("'" + source + "' has no usable file name: " + e.getReason());
        }
    }

    private static Optional<URI> web(String text) {
        try {
            URI uri = new URI(text);
            boolean usable =
                    uri.getHost() != null && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()));
            return usable ? Optional.of(uri) : Optional.empty();
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
