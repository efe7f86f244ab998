package dev.tenon.platform.cli.main;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/// The manual page `share/man/man1/tenon.1` of the distribution, for `man`.
final class ManPage extends CommandsText {
    /// Reads the commands.
    ///
    /// @param root the command `tenon` with all commands below it
    ManPage(CommandLine root) {
        super(root);
    }

    @Override
    void begin(CommandSpec root, PrintWriter out) {
        out.println(".TH TENON 1 \"\" \"" + root.version()[0] + "\"");
        section("Name", out);
        out.println("tenon \\- " + escaped(text(root.usageMessage().description())));
        section("Synopsis", out);
        out.println(".B tenon\n.I COMMAND\n[options]");
        section("Exit status", out);
        out.println(escaped(STATUS + "."));
        section("Options of all commands", out);
    }

    @Override
    void commandsTitle(PrintWriter out) {
        section("Commands", out);
    }

    @Override
    void title(String command, String description, PrintWriter out) {
        out.println(".SS " + escaped(command));
        out.println(escaped(description));
    }

    @Override
    void options(Iterable<? extends ArgSpec> args, PrintWriter out) {
        for (ArgSpec arg : args) {
            out.println(".TP\n.B " + escaped(name(arg)));
            out.println(escaped(text(arg.renderedDescription())));
        }
    }

    @Override
    void others(List<String> names, PrintWriter out) {
        out.println(".PP\nAlso, described at the end: " + escaped(String.join(", ", names)) + ".");
    }

    @Override
    void examples(List<String> lines, PrintWriter out) {
        out.println(".PP\n.nf");
        lines.forEach(line -> out.println(escaped(line)));
        out.println(".fi");
    }

    @Override
    void sharedTitle(String title, PrintWriter out) {
        section(title, out);
    }

    private static void section(String title, PrintWriter out) {
        out.println(".SH " + title.toUpperCase(Locale.ROOT));
    }

    /// A text that begins no request and has no escape sequences; its dashes can be copied.
    private static String escaped(String text) {
        String plain = text.replace("\\", "\\e").replace("-", "\\-");
        return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
    }
}
