package dev.tenon.platform.templates.values;

/// Limits of one rendering, so that a hostile template fails within seconds and without filling the memory.
///
/// Counts work instead of time, so that the outcome is the same on every machine. Not safe for several threads.
public final class Budget {
    /// Most expressions, statements and list elements in one rendering.
    static final long MAX_STEPS = 5_000_000;
    /// Most characters in one string or in the output.
    public static final int MAX_LENGTH = 8 << 20;
    /// Most characters in all strings that a rendering makes.
    static final long MAX_CHARACTERS = 128L << 20;
    /// Most calls of macros and blocks inside each other.
    public static final int MAX_DEPTH = 200;
    /// Longest `range`, as in Jinja2's sandbox.
    static final int MAX_RANGE = 100_000;

    private long steps;
    private long characters;
    private int depth;

    /// Counts work.
    public void step(long n) {
        steps += n;
        if (steps > MAX_STEPS) {
            throw new TemplateFailure("it does more work than " + MAX_STEPS + " steps");
        }
    }

    /// Counts a string before it is made.
    public void string(long length) {
        if (length > MAX_LENGTH) {
            throw new TemplateFailure("it makes a text of more than " + MAX_LENGTH + " characters");
        }
        characters += length;
        if (characters > MAX_CHARACTERS) {
            throw new TemplateFailure("it makes more than " + MAX_CHARACTERS + " characters of text in all");
        }
    }

    /// Counts a string that was made.
    public String made(String text) {
        string(text.length());
        return text;
    }

    /// Fails if a text under construction is too long already.
    public static void check(StringBuilder text) {
        if (text.length() > MAX_LENGTH) {
            throw new TemplateFailure("it makes a text of more than " + MAX_LENGTH + " characters");
        }
    }

    /// Enters a macro or another nested block; [#leave()] follows.
    public void enter() {
        if (++depth > MAX_DEPTH) {
            throw new TemplateFailure("its macros call each other more than " + MAX_DEPTH + " levels deep");
        }
    }

    /// Leaves what [#enter()] entered.
    public void leave() {
        depth--;
    }
}
