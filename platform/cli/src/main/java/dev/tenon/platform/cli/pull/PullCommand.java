package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.http.HttpGet;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
            "  tenon pull hf:org/repo-GGUF",
            "  tenon pull hf:org/repo-GGUF:Q8_0",
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
            description = "hf:owner/repo[:quant] (default quant: Q4_K_M), or an http(s) URL.")
    private String source;

    @Option(names = "--sha256", paramLabel = "HEX", description = "The expected checksum of a file from a URL.")
    private String sha256;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "The file to write (default: in the models folder).")
    private Path output;

    @Option(
            names = {"-y", "--overwrite"},
            description = "Download the file even if it exists.")
    private boolean overwrite;

    Duration pause = Duration.ofMillis(500);
    Duration stall = Duration.ofSeconds(60);

    @Override
    public Integer call() throws IOException {
        if (sha256 != null && !sha256.matches("[0-9a-fA-F]{64}")) {
            throw usage("Invalid value for option '--sha256': expected 64 hexadecimal digits");
        }
        Path folder = ModelFiles.folder(console.setting("models"));
        URI hub = uri(console.setting("hf.url").orElse(HUB));
        String token = console.setting("hf.token").orElse(System.getenv("HF_TOKEN"));
        try (HttpGet http = new HttpGet(token == null || token.isBlank() ? null : token.strip(), hub)) {
            Downloader downloader = new Downloader(http, console, pause, stall);
            if (HubReference.isReference(source)) {
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
        if (files.size() > 1 && output != null) {
            throw usage("-o needs a single file, but " + source + " has " + files.size() + " parts");
        }
        if (files.size() > 1 && sha256 != null) {
            throw usage("--sha256 needs a single file, but " + source + " has " + files.size() + " parts");
        }
        Path repo = folder.resolve(reference.owner()).resolve(reference.repo());
        for (Hub.HubFile file : files) {
            Path target = output != null ? output : repo.resolve(file.name()).normalize();
            if (output == null && !target.startsWith(repo)) {
                throw new TenonException(
                        ErrorCode.DOWNLOAD,
                        source + " has a file with a path outside the target folder: " + file.name() + ".");
            }
            String sum = sha256 != null ? sha256 : file.sha256();
            pull(downloader, new Downloader.Wanted(file.uri(), file.size(), sum), target);
        }
        console.note("Use it with: tenon run -m " + source);
    }

    private void pullUrl(Downloader downloader, Path folder) throws IOException {
        URI uri = uri(source);
        if (uri.getHost() == null || !"http".equals(uri.getScheme()) && !"https".equals(uri.getScheme())) {
            throw usage("'" + source + "' is neither hf:owner/repo[:quant] nor an http(s) URL");
        }
        String path = uri.getPath() == null ? "" : uri.getPath();
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (output == null && (name.isEmpty() || name.equals("..") || name.equals(".") || name.contains("\\"))) {
            throw usage("'" + source + "' does not end in a file name; give one with -o");
        }
        Path target = output != null ? output : folder.resolve(name);
        pull(downloader, new Downloader.Wanted(uri, -1, sha256), target);
        console.note("Use it with: tenon run -m " + (output != null ? output : name));
    }

    private void pull(Downloader downloader, Downloader.Wanted wanted, Path target) throws IOException {
        if (!overwrite && Files.isRegularFile(target)) {
            boolean sizeFits = wanted.size() < 0 || Files.size(target) == wanted.size();
            if (sizeFits
                    && (wanted.sha256() == null || downloader.sha256(target).equalsIgnoreCase(wanted.sha256()))) {
                console.note("It exists already.");
                console.out().println(target);
                return;
            }
        }
        downloader.download(wanted, target);
        console.out().println(target);
    }

    private URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw usage("'" + text + "' is not a URL: " + e.getReason());
        }
    }

    private ParameterException usage(String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
