package dev.tenon.platform.cli.pull;

import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.text.Sizes;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.hub.ModelFiles;
import dev.tenon.platform.hub.Pulled;
import java.time.ZoneId;
import java.util.List;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/// `tenon list`: the pulled models.
@Command(
        name = "list",
        description = {
            "Lists the pulled models with their sizes; -q prints the names alone.",
            "'+ picture' and '+ sound' mark those with a companion that lets them see or hear."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon list", "  tenon list -q"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=list",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ListCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Override
    public Integer call() {
        ModelFiles files = new ModelFiles(ModelFiles.folder(console.setting("models")));
        List<Pulled> models = files.models();
        if (models.isEmpty()) {
            console.note("No models in " + files.folder() + ". Get one with: tenon pull owner/repo");
            return 0;
        }
        if (console.quiet()) {
            models.forEach(model -> console.out().println(model.name()));
            return 0;
        }
        int width =
                models.stream().mapToInt(model -> model.name().length()).max().orElse(1);
        String row = "%-" + width + "s  %10s  %s%s%n";
        console.out().printf(row, "NAME", "SIZE", "DATE", "");
        for (Pulled model : models) {
            console.out()
                    .printf(
                            row,
                            model.name(),
                            Sizes.bytes(model.bytes()),
                            model.date().atZone(ZoneId.systemDefault()).toLocalDate(),
                            model.companion().map(ListCommand::senses).orElse(""));
        }
        return 0;
    }

    private static String senses(CompanionFile companion) {
        return (companion.sees() ? "  + picture" : "") + (companion.hears() ? "  + sound" : "");
    }
}
