package dev.tenon.platform.templates.values;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Breaks a line into lines of a width, between words, as Python's `textwrap` does.
final class Wrapping {
    private static final String BLANK = "[\\t\\n\\x0b\\f\\r ]";
    private static final String PUNCTUATION = "[\\w!\"'&.,?]";
    private static final String LETTER = "[^\\d\\W]";
    /// Runs of blanks, dashes between words, and words, which may break after a hyphen.
    private static final Pattern CHUNK = Pattern.compile(
            BLANK + "+|(?<=" + PUNCTUATION + ")-{2,}(?=\\w)|[^\\t\\n\\x0b\\f\\r ]+?(?:"
                    + "-(?:(?<=" + LETTER + "{2}-)|(?<=" + LETTER + "-" + PUNCTUATION + "-))(?=" + LETTER + "-?"
                    + LETTER + ")"
                    + "|(?=" + BLANK + "|\\z)|(?<=" + PUNCTUATION + ")(?=-{2,}\\w))",
            Pattern.UNICODE_CHARACTER_CLASS);
    private static final Pattern WORD = Pattern.compile(BLANK + "+|[^\\t\\n\\x0b\\f\\r ]+");

    private Wrapping() {}

    static List<Object> wrap(Text text, int width, boolean breaksWords, boolean breaksHyphens) {
        Deque<Text> chunks = new ArrayDeque<>();
        Matcher m = (breaksHyphens ? CHUNK : WORD).matcher(text.toString());
        while (m.find()) {
            chunks.add(text.substring(m.start(), m.end()));
        }
        List<Object> lines = new ArrayList<>();
        while (!chunks.isEmpty()) {
            Deque<Text> line = new ArrayDeque<>();
            int used = 0;
            if (isBlank(chunks.peek()) && !lines.isEmpty()) {
                chunks.poll();
            }
            while (!chunks.isEmpty() && used + chunks.peek().length() <= width) {
                used += chunks.peek().length();
                line.add(chunks.poll());
            }
            if (!chunks.isEmpty() && chunks.peek().length() > width && (breaksWords || line.isEmpty())) {
                line.add(breaksWords ? part(chunks, width - used, breaksHyphens) : chunks.poll());
            }
            if (!line.isEmpty() && isBlank(line.getLast())) {
                line.removeLast();
            }
            if (!line.isEmpty()) {
                TextBuilder out = new TextBuilder();
                line.forEach(out::append);
                lines.add(out.toText());
            }
        }
        return lines;
    }

    private static boolean isBlank(Text chunk) {
        return chunk.toString().isBlank();
    }

    /// Takes the part of the first chunk that still fits, up to a hyphen if there is one.
    private static Text part(Deque<Text> chunks, int left, boolean breaksHyphens) {
        Text chunk = chunks.poll();
        int space = Math.max(1, left);
        int end = space;
        if (breaksHyphens && chunk.length() > space) {
            String fits = chunk.slice(0, space).toString();
            int hyphen = fits.lastIndexOf('-');
            if (hyphen > 0 && fits.substring(0, hyphen).chars().anyMatch(c -> c != '-')) {
                end = fits.codePointCount(0, hyphen + 1);
            }
        }
        chunks.addFirst(chunk.slice(end, chunk.length()));
        return chunk.slice(0, end);
    }
}
