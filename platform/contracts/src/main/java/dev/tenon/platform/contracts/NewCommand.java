package dev.tenon.platform.contracts;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.contracts.project.LocalRepository;
import dev.tenon.platform.contracts.project.ProjectKind;
import dev.tenon.platform.contracts.project.ProjectNames;
import dev.tenon.platform.contracts.project.ProjectTemplate;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
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

/// `tenon new`: a project for a bundle of one's own.
@Command(
        name = "new",
        sortOptions = false,
        description = {
            "Makes a folder with a project for a bundle of your own: code that works, and the test that it has to pass.",
            "Installs the api, the contract tests and the command line, which the project's build needs, into Maven's local"
                    + " repository."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon new format my-format",
            "  tenon new model qwen2 --group com.example",
            "  tenon new --install",
            "",
            "Then, in the new folder: tenon dev, or ./mvnw verify"
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=new",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class NewCommand implements TenonCommand {
    private static final String ARCHETYPES = "META-INF/archetypes/";
    private static final String WRAPPER = "META-INF/wrapper/";
    private static final String SOURCES_OF = "META-INF/sources/";
    private static final String SOURCES = "/src/main/resources/";

    @ParentCommand
    Console console;

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "KIND",
            completionCandidates = ProjectKind.Words.class,
            description = "What the bundle offers: ${COMPLETION-CANDIDATES}.")
    private String kind;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "NAME",
            description = "The new folder; package, class, id and number follow from its name.")
    private String name;

    @Option(
            names = "--group",
            paramLabel = "GROUP",
            defaultValue = "com.example",
            description = "Maven's group; the package begins with it (default: ${DEFAULT-VALUE}).")
    private String group;

    @Option(
            names = "--id",
            paramLabel = "ID",
            description = "Id of what the bundle offers, as settings, commands or model files name it.")
    private String id;

    @Option(
            names = "--number",
            paramLabel = "N",
            description = "The format's number in model files; it never changes (default: follows from the id).")
    private Integer number;

    @Option(
            names = "--install",
            description = "Make no project: only install what its build needs, for a project that is there.")
    private boolean install;

    private BundleContext context;

    /// Called by the component runtime.
    ///
    /// @param context of this bundle, which holds the templates
    @Activate
    void activate(BundleContext context) {
        this.context = context;
    }

    @Override
    public Integer call() {
        if (install ? kind != null : name == null) {
            throw new ParameterException(
                    spec.commandLine(), "Give KIND and NAME, such as: tenon new format my-format; or --install alone");
        }
        if (!install) {
            make();
        }
        LocalRepository repository = LocalRepository.find(System.getenv(), Path.of(System.getProperty("user.home")));
        boolean written = repository.install(
                Path.of(context.getProperty("tenon.home")), artifact -> read(SOURCES_OF + artifact + "/"));
        console.note(String.join(", ", LocalRepository.ARTIFACTS) + " " + LocalRepository.version()
                + (written ? " were installed into " : " are in ") + repository.folder());
        return 0;
    }

    private void make() {
        ProjectKind offered = ProjectKind.of(kind);
        ProjectNames names = ProjectNames.of(offered, name, group, id, number);
        ProjectTemplate template = new ProjectTemplate(read(ARCHETYPES + offered.word() + SOURCES));
        Map<String, String> values = template.values(names.properties(LocalRepository.version()));
        Path folder = Path.of(name);
        if (Files.exists(folder)) {
            throw new TenonException(
                    ErrorCode.USAGE, folder.toAbsolutePath() + " is there already: choose another name, or delete it");
        }
        try {
            write(folder, template.make(values));
            write(folder, read(WRAPPER));
            if (!folder.resolve("mvnw").toFile().setExecutable(true, false)) {
                console.note("mvnw cannot be made executable; run it with sh");
            }
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, "The project " + folder.toAbsolutePath() + " cannot be written: " + e, e);
        }
        console.out()
                .printf(
                        "%s: %s.%s, %s %s%s%n",
                        folder,
                        names.packageName(),
                        names.className(),
                        offered.word(),
                        names.id(),
                        values.containsKey("number") ? ", number " + values.get("number") : "");
        console.out().printf("Next: cd %s, then tenon dev or ./mvnw verify%n", folder);
    }

    private static void write(Path folder, Map<String, byte[]> files) throws IOException {
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            Path target = folder.resolve(file.getKey());
            Files.createDirectories(target.getParent());
            Files.write(target, file.getValue());
        }
    }

    /// The files of a folder of this bundle.
    private Map<String, byte[]> read(String folder) {
        Map<String, byte[]> files = new TreeMap<>();
        try {
            for (URL url : Collections.list(context.getBundle().findEntries(folder, "*", true))) {
                String path = url.getPath();
                if (!path.endsWith("/")) {
                    try (InputStream in = url.openStream()) {
                        files.put(path.substring(path.indexOf(folder) + folder.length()), in.readAllBytes());
                    }
                }
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "The templates of this bundle cannot be read: " + e, e);
        }
        return files;
    }
}
