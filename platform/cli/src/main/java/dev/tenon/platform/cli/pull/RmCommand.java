package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.hub.ModelFiles;
import dev.tenon.platform.hub.Pulled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon rm`: deletes pulled models.
@Command(
        name = "rm",
        description = "Deletes pulled models, and companions that no other one has; other files are never touched.",
        footerHeading = "%nExamples:%n",
        footer = {"  tenon rm org/repo-GGUF:Q8_0", "  tenon rm -y model-Q4_K_M"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=rm",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class RmCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Parameters(
            paramLabel = "MODEL",
            arity = "1..*",
            description = "A name of 'tenon list', or the name that was pulled.")
    private List<String> names;

    @Option(
            names = {"-y", "--yes"},
            description = "Delete without asking.")
    private boolean yes;

    @Override
    public Integer call() throws IOException {
        ModelFiles files = new ModelFiles(ModelFiles.folder(console.setting("models")));
        List<Pulled> models = new ArrayList<>();
        for (String name : names) {
            models.add(files.model(name)
                    .orElseThrow(() -> new TenonException(
                            ErrorCode.IO,
                            "There is no model " + name + " in " + files.folder() + ". See 'tenon list'.")));
        }
        for (Pulled model : models) {
            String what = model.name() + " (" + Sizes.bytes(model.bytes()) + ")";
            if (!yes && !console.agrees("Delete " + what + "?")) {
                throw new TenonException(ErrorCode.USAGE, what + " was not deleted. Agree when asked, or give -y.");
            }
            List<Path> companions = files.delete(model.files().getFirst());
            console.out().println(model.name());
            companions.forEach(file -> console.note("Its companion " + file.getFileName() + " was deleted, too."));
        }
        return 0;
    }
}
