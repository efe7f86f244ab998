package dev.tenon.platform.cli.chat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jline.utils.WCWidth;

/// Makes a model's text, as it comes, fit for a terminal: lines end between words, and simple Markdown (bold,
/// headings, lists, code) is shown instead of its marks. What is no such mark stays as it is. Reasoning is grey.
final class StyledText {
    private static final int TAB = 8;
    private static final String FENCE = "```";
    /// The beginning of a line that may become a list item or a heading.
    private static final Pattern UNDECIDED = Pattern.compile(" *(?:[-*+]|\\d{1,3}[.)]?|#{1,6}|`{1,2})?");
    private static final Pattern ITEM = Pattern.compile("( *)(?:([-*+])|(\\d{1,3}[.)])) ");
    private static final Pattern HEADING = Pattern.compile("#{1,6} +");

    private final int width;
    private final boolean plain;
    private final boolean colors;
    private final StringBuilder waiting = new StringBuilder();
    private final StringBuilder word = new StringBuilder();
    private final StringBuilder shown = new StringBuilder();
    private int wordWidth;
    private int spaces;
    private int column;
    private int hang;
    private boolean lineStart = true;
    private boolean ending;
    private boolean reasoning;
    private boolean bold;
    private boolean heading;
    private boolean code;
    private boolean block;

    /// Begins a text.
    ///
    /// @param width columns of the terminal
    StyledText(int width) {
        this(width, false, true);
    }

    private StyledText(int width, boolean plain, boolean colors) {
        this.width = width;
        this.plain = plain;
        this.colors = colors;
    }

    /// {@return a text in which nothing is a mark: only its lines end between words}
    ///
    /// @param width columns of the terminal
    /// @param colors whether reasoning may be grey
    static StyledText plain(int width, boolean colors) {
        return new StyledText(width, true, colors);
    }

    /// {@return what can be shown now, with escape sequences}
    ///
    /// @param text the next part of the text
    String next(String text) {
        waiting.append(text);
        int done = 0;
        for (int used = take(done); used > 0; used = take(done)) {
            done += used;
        }
        waiting.delete(0, done);
        return shown();
    }

    /// Begins the reasoning before an answer.
    ///
    /// @return what is to be shown of that
    String reasoning() {
        reasoning = true;
        style();
        return shown();
    }

    /// Ends the reasoning: the answer stands below it.
    ///
    /// @return the rest of the reasoning, and what is to be shown of that
    String answer() {
        String rest = end();
        if (column > 0) {
            newLine();
        }
        newLine();
        reasoning = false;
        block = false;
        style();
        return rest + shown();
    }

    /// {@return the rest of what is to be shown}
    String finish() {
        String rest = end();
        boolean styled = colors && (reasoning || bold || heading || code || block);
        return rest + (styled ? "\u001b[0m" : "");
    }

    /// What waited for more text.
    private String end() {
        ending = true;
        String rest = next("");
        ending = false;
        flush();
        return rest + shown();
    }

    private String shown() {
        String text = shown.toString();
        shown.setLength(0);
        return text;
    }

    /// Takes one character or mark.
    ///
    /// @return how many characters were taken; 0 if more must come first
    private int take(int at) {
        if (at == waiting.length()) {
            return 0;
        }
        if (plain) {
            return plain(waiting.charAt(at), at);
        }
        if (lineStart) {
            int taken = lineStart(at);
            if (taken != 0) {
                return Math.max(taken, 0);
            }
            lineStart = false;
        }
        char c = waiting.charAt(at);
        if (c == '\n') {
            newLine();
            return 1;
        }
        if (!block && (c == '`' || c == '*')) {
            return mark(at, c);
        }
        return character(at);
    }

    private int plain(char c, int at) {
        if (c == '\n') {
            newLine();
        } else if (c == '\t') {
            flush();
            shown.repeat(' ', spaces).append(c);
            column += spaces;
            column += TAB - column % TAB;
            spaces = 0;
        } else {
            return character(at);
        }
        return 1;
    }

    /// Takes what stands for something at the start of a line.
    ///
    /// @return how many characters were taken; 0 for a plain line, -1 if more must come first
    private int lineStart(int at) {
        String rest = waiting.substring(at);
        if (rest.startsWith(FENCE)) {
            int end = rest.indexOf('\n');
            if (end < 0 && !ending) {
                return -1;
            }
            block = !block;
            style();
            return end < 0 ? rest.length() : end + 1;
        }
        if (!ending && UNDECIDED.matcher(rest).matches()) {
            return block && !FENCE.startsWith(rest) ? 0 : -1;
        }
        if (block) {
            return 0;
        }
        Matcher item = ITEM.matcher(rest);
        if (item.lookingAt()) {
            lineStart = false;
            String sign = item.group(2) == null ? item.group(3) : "\u2022";
            word.append(item.group(1)).append(sign);
            wordWidth += item.group(1).length() + sign.length();
            flush();
            spaces = 1;
            hang = column + 1;
            return item.end();
        }
        Matcher title = HEADING.matcher(rest);
        if (title.lookingAt()) {
            lineStart = false;
            heading = true;
            style();
            return title.end();
        }
        return 0;
    }

    private int mark(int at, char c) {
        if (c == '`') {
            code = !code;
            style();
            return 1;
        }
        if (at + 2 >= waiting.length() && !ending && mayStart(at, "**")) {
            return 0;
        }
        boolean opens = at + 2 < waiting.length() && !Character.isWhitespace(waiting.charAt(at + 2));
        if (!code && starts(at, "**") && (bold || opens)) {
            bold = !bold;
            style();
            return 2;
        }
        return character(at);
    }

    private int character(int at) {
        int c = waiting.codePointAt(at);
        int length = Character.charCount(c);
        if (block) {
            shown.appendCodePoint(printable(c));
        } else if (c == ' ' || c == '\t') {
            flush();
            spaces++;
        } else {
            int columns = Math.max(0, WCWidth.wcwidth(printable(c)));
            word.appendCodePoint(printable(c));
            wordWidth += columns;
            if (columns == 2) {
                flush(); // such scripts break lines anywhere
            }
        }
        return length;
    }

    /// A text cannot control the terminal.
    private static int printable(int c) {
        return c != '\t' && Character.isISOControl(c) ? 0xFFFD : c;
    }

    private void newLine() {
        flush();
        shown.append('\n');
        column = 0;
        spaces = 0;
        hang = 0;
        lineStart = true;
        if (bold || heading || code) {
            bold = false;
            heading = false;
            code = false;
            style();
        }
    }

    /// Writes the word, on the next line where it does not fit this one.
    private void flush() {
        if (wordWidth > 0 && column > hang && column + spaces + wordWidth > width) {
            shown.append('\n').repeat(' ', hang);
            column = hang;
            spaces = 0;
        }
        if (wordWidth > 0) {
            shown.repeat(' ', spaces);
            column += spaces + wordWidth;
            spaces = 0;
        }
        shown.append(word);
        word.setLength(0);
        wordWidth = 0;
    }

    private void style() {
        if (!colors) {
            return;
        }
        word.append("\u001b[0");
        word.append(reasoning ? ";2" : "");
        word.append(bold || heading ? ";1" : "");
        word.append(code || block ? ";36" : "");
        word.append('m');
        if (block) {
            flush();
        }
    }

    private boolean starts(int at, String mark) {
        return waiting.length() - at >= mark.length()
                && waiting.substring(at, at + mark.length()).equals(mark);
    }

    private boolean mayStart(int at, String mark) {
        return !ending && mark.startsWith(waiting.substring(at, Math.min(waiting.length(), at + mark.length())));
    }
}
