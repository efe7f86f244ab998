package dev.tenon.platform.cli.main;

import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.Engine;
import dev.tenon.platform.cli.TenonCommand;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `tenon completion`: prints a script that lets a shell complete commands, options and their values.
@Command(
        name = CompletionCommand.COMMAND,
        description = {
            "Prints a script that makes a shell complete commands, options and their values.",
            "Make it again after a bundle with commands was installed.",
            "The manual page is share/man/man1/tenon.1 of the distribution."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  tenon completion bash > ~/.local/share/bash-completion/completions/tenon",
            "  tenon completion zsh > ~/.tenon-completion    # and in ~/.zshrc: source ~/.tenon-completion",
            "  tenon completion fish > ~/.config/fish/completions/tenon.fish",
        })
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=" + CompletionCommand.COMMAND,
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class CompletionCommand implements TenonCommand {
    /// Its name. It needs all other commands.
    static final String COMMAND = "completion";

    private static final String SEEN = "__fish_seen_subcommand_from ";

    @Reference(cardinality = ReferenceCardinality.OPTIONAL, policyOption = ReferencePolicyOption.GREEDY)
    Engine engine;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
    private Shell shell;

    /// The shells.
    enum Shell {
        bash,
        zsh,
        fish
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.root().commandLine().getOut();
        if (engine != null) {
            List<String> ids = Stream.concat(
                            Stream.of("auto"), engine.backends().stream().map(Backend::id))
                    .toList();
            offerBackends(spec.root(), ids);
        }
        if (shell == Shell.fish) {
            fish(spec.root(), "", "__fish_use_subcommand", out);
        } else {
            // Where nothing else fits, a file does: a model is a file as a rule, and an option's value often.
            out.print(AutoComplete.bash("tenon", spec.root().commandLine())
                    .replaceAll(".*compopt \\+o default\n", "")
                    // A word counts as an option where it is one, not where it is within one's name.
                    .replace(" =~ ${previousWord} ]]", " == *\"'${previousWord}'\"* ]]"));
        }
        return 0;
    }

    /// Commands know what may be a backend, and not which ones are installed.
    private static void offerBackends(CommandSpec command, List<String> ids) {
        OptionSpec option = command.findOption("--backend");
        if (option != null) {
            command.remove(option);
            command.addOption(option.toBuilder().completionCandidates(ids).build());
        }
        command.subcommands().values().forEach(below -> offerBackends(below.getCommandSpec(), ids));
    }

    /// Prints the completion of a command and of those below it.
    ///
    /// @param here the condition that the command was typed; empty for the first one
    /// @param next the condition that none below it was
    private static void fish(CommandSpec command, String here, String next, PrintWriter out) {
        options(command, here.isEmpty() ? "" : " -n '" + here + "'", out);
        for (PositionalParamSpec parameter : command.positionalParameters()) {
            if (parameter.completionCandidates() != null) {
                out.println("complete -c tenon -n '" + here + "'" + candidates(parameter) + " -d "
                        + quoted(first(parameter.description())));
            }
        }
        for (Map.Entry<String, CommandLine> below : command.subcommands().entrySet()) {
            CommandSpec spec = below.getValue().getCommandSpec();
            out.println("complete -c tenon -n '" + next + "' -f -a " + below.getKey() + " -d "
                    + quoted(first(spec.usageMessage().description())));
            String typed = (here.isEmpty() ? "" : here + "; and ") + SEEN + below.getKey();
            fish(
                    spec,
                    typed,
                    typed + "; and not " + SEEN
                            + String.join(" ", spec.subcommands().keySet()),
                    out);
        }
    }

    private static void options(CommandSpec command, String condition, PrintWriter out) {
        for (OptionSpec option : command.options()) {
            if (option.hidden() || option.inherited()) {
                continue;
            }
            StringBuilder line = new StringBuilder("complete -c tenon").append(condition);
            for (String name : option.names()) {
                line.append(name.startsWith("--") ? " -l " : name.length() == 2 ? " -s " : " -o ")
                        .append(name.replaceFirst("^--?", ""));
            }
            if (option.arity().min() > 0) {
                line.append(" -r");
            }
            if (option.completionCandidates() != null) {
                line.append(candidates(option));
            }
            out.println(line.append(" -d ").append(quoted(first(option.description()))));
        }
    }

    private static String candidates(ArgSpec arg) {
        return " -f -a "
                + quoted(StreamSupport.stream(arg.completionCandidates().spliterator(), false)
                        .collect(Collectors.joining(" ")));
    }

    private static String first(String... lines) {
        return Arrays.stream(lines).findFirst().orElse("").replaceFirst("(?s)\\. .*| \\(default:.*", "");
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
