package dev.tenon.platform.cli.config;

import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.SettingsSource;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.control.EngineControl;
import dev.tenon.platform.core.control.SettingValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `tenon config`: all settings that are declared.
@Command(
        name = "config",
        description = {
            "Lists each setting, its value and where the value comes from.",
            "Origins: default, a file in etc, environment, command line.",
            "Exit status 1 if a value is not allowed."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon config", "  tenon config --json", "  tenon config --set threads.pin=on"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=config",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ConfigCommand implements TenonCommand {
    @ParentCommand
    Console console;

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    EngineControl control;

    @Reference(policyOption = ReferencePolicyOption.GREEDY)
    List<SettingsSource> sources = List.of();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(names = "--markdown", hidden = true, description = "Print the page of all settings, docs/settings.md.")
    private boolean markdown;

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Show the settings with this one applied; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Override
    public Integer call() {
        List<SettingValue> values = new ArrayList<>();
        if (control != null) {
            values.addAll(control.settings(settings));
        }
        values.addAll(OwnSettings.values(console));
        sources.forEach(source -> values.addAll(source.settings()));
        SettingsTable table = new SettingsTable(values);
        if (json) {
            console.out().println(table.json());
        } else if (markdown) {
            table.page(console.out());
        } else {
            table.print(console.out());
        }
        return values.stream().allMatch(value -> value.problem().isEmpty()) ? 0 : 1;
    }
}
