package dev.tenon.platform.cli.doctor;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.cli.terminal.EditDistance;
import java.io.PrintWriter;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.ServiceScope;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `tenon explain`: what an error means and what to do.
@Command(
        name = "explain",
        description = {
            "Tells what an error means and what to do.",
            "Without a code it lists all, those of third parties' bundles excepted.",
        },
        footerHeading = "%nExamples:%n",
        footer = {"  tenon explain", "  tenon explain GGUF-003"})
@Component(
        service = TenonCommand.class,
        scope = ServiceScope.PROTOTYPE,
        property = TenonCommand.NAME + "=explain",
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class ExplainCommand implements TenonCommand {
    private static final int COLUMNS = 80;

    @ParentCommand
    private Console console;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "CODE",
            completionCandidates = Codes.class,
            description = "Code in brackets at the end of the error's line, such as ENV-001.")
    private String code;

    @Override
    public Integer call() {
        List<ErrorPage.Entry> entries = ErrorPage.entries();
        if (code == null) {
            list(entries);
            return 0;
        }
        String wanted = code.toUpperCase(Locale.ROOT);
        ErrorPage.Entry entry = entries.stream()
                .filter(each -> each.code().equals(wanted))
                .findFirst()
                .orElseThrow(() -> unknown(wanted));
        console.out().println(entry.code() + ": " + entry.title() + "\n\n" + plain(entry.text()));
        return 0;
    }

    private void list(List<ErrorPage.Entry> entries) {
        PrintWriter out = console.out();
        String section = "";
        for (ErrorPage.Entry entry : entries) {
            if (!entry.section().equals(section)) {
                out.println((section.isEmpty() ? "" : "\n") + entry.section() + ":");
                section = entry.section();
            }
            out.printf("  %-12s %s%n", entry.code(), entry.title());
        }
    }

    /// Links as text and file; lines end between words.
    private static String plain(String markdown) {
        return markdown.replaceAll("\\[([^]]+)]\\(\\1\\)", "docs/$1")
                .replaceAll("\\[([^]]+)]\\(([^)]+)\\)", "$1 <docs/$2>")
                .replaceAll("(?<!\n)\n(?!\n)", " ")
                .replaceAll("(\\S{" + COLUMNS + ",}|.{1," + COLUMNS + "})(?: |\n|$)", "$1\n")
                .stripTrailing();
    }

    private static TenonException unknown(String code) {
        String near = EditDistance.suggestion(code, Codes.all());
        boolean ours = Codes.all().stream().anyMatch(each -> each.startsWith(code.replaceFirst("-.*", "-")));
        return new TenonException(
                ErrorCode.USAGE,
                "Tenon has no error " + code + "." + near
                        + (ours || !near.isEmpty()
                                ? " 'tenon explain' lists all."
                                : " If a third party's bundle raised it, the documentation of that bundle explains it."));
    }

    /// What a shell completes.
    static final class Codes implements Iterable<String> {
        static List<String> all() {
            return ErrorPage.entries().stream().map(ErrorPage.Entry::code).toList();
        }

        @Override
        public Iterator<String> iterator() {
            return all().iterator();
        }
    }
}
