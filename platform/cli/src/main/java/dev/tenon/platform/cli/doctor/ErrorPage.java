package dev.tenon.platform.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The page `docs/errors.md`, which the build copies into this bundle.
public final class ErrorPage {
    private static final String FILE = "errors.md";
    private static final Pattern SECTION = Pattern.compile("## (.+)");
    private static final Pattern HEADING = Pattern.compile("### <a id=\"([a-z]+-\\d+)\"></a>([A-Z]+-\\d+): (.+)");

    private ErrorPage() {}

    /// What the page says about one code.
    ///
    /// @param section the title above, such as `Environment`
    /// @param anchor where it stands on the page, such as `env-001`
    /// @param code such as `ENV-001`
    /// @param title a few words
    /// @param text paragraphs in Markdown, with an empty line between them
    public record Entry(String section, String anchor, String code, String title, String text) {}

    /// {@return the codes with their texts, in the order of the page}
    ///
    /// @throws IllegalStateException if a heading has another form than the page's
    public static List<Entry> entries() {
        List<Entry> entries = new ArrayList<>();
        String section = "";
        for (String part : page().split("\n(?=##)")) {
            String[] lines = part.split("\n", 2);
            Matcher title = SECTION.matcher(lines[0]);
            Matcher heading = HEADING.matcher(lines[0]);
            if (heading.matches()) {
                entries.add(new Entry(
                        section,
                        heading.group(1),
                        heading.group(2),
                        heading.group(3),
                        lines.length == 1 ? "" : lines[1].strip()));
            } else if (title.matches()) {
                section = title.group(1);
            } else if (lines[0].startsWith("##")) {
                throw new IllegalStateException("A heading of " + FILE + " is not understood: " + lines[0]);
            }
        }
        return entries;
    }

    private static String page() {
        try (InputStream in = ErrorPage.class.getResourceAsStream(FILE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
