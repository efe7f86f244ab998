package dev.tenon.platform.cli.main;

import dev.tenon.platform.cli.TenonCommand;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `tenon completion`: prints a script that lets a shell complete commands, options and their values.
@Command(
        name = CompletionCommand.COMMAND,
        description = {
            "Prints a script that makes a shell complete commands, options and their values.",
            "Make it again after a bundle with commands was installed."
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
        RootCommand root = (RootCommand) spec.root().userObject();
        if (shell == Shell.fish) {
            fish(spec.root(), root.out());
        } else {
            root.out().print(AutoComplete.bash("tenon", spec.root().commandLine()));
        }
        return 0;
    }

    private static void fish(CommandSpec root, PrintWriter out) {
        options(root, "", out);
        for (Map.Entry<String, CommandLine> command : root.subcommands().entrySet()) {
            CommandSpec spec = command.getValue().getCommandSpec();
            out.println("complete -c tenon -n __fish_use_subcommand -f -a " + command.getKey() + description(spec));
            options(spec, " -n '__fish_seen_subcommand_from " + command.getKey() + "'", out);
            for (Map.Entry<String, CommandLine> below : spec.subcommands().entrySet()) {
                out.println("complete -c tenon -n '__fish_seen_subcommand_from " + command.getKey() + "' -a "
                        + below.getKey() + description(below.getValue().getCommandSpec()));
            }
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
                line.append(" -f -a ")
                        .append(quoted(StreamSupport.stream(
                                        option.completionCandidates().spliterator(), false)
                                .collect(Collectors.joining(" "))));
            }
            out.println(line.append(" -d ").append(quoted(first(option.description()))));
        }
    }

    private static String description(CommandSpec command) {
        return " -d " + quoted(first(command.usageMessage().description()));
    }

    private static String first(String... lines) {
        return Arrays.stream(lines).findFirst().orElse("").replaceFirst("(?s)\\. .*| \\(default:.*", "");
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
