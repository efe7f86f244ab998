package dev.tenon.platform.templates.values;

/// Limits of one rendering, so that a hostile template fails within seconds and without filling the memory.
///
/// Counts work instead of time, so that the outcome is the same on every machine. Not safe for several threads.
public final class Budget {
    /// Most levels of macros, blocks and values inside each other.
    static final int MAX_DEPTH = 200;
    /// Most characters in one string or in the output.
    static final int MAX_LENGTH = 8 << 20;
    /// Most expressions, statements and list elements in one rendering.
    static final long MAX_STEPS = 5_000_000;
    /// Longest `range`, as in Jinja2's sandbox.
    static final int MAX_RANGE = 100_000;
    /// Most characters in all strings that a rendering makes.
    private static final long MAX_CHARACTERS = 128L << 20;

    private long steps;
    private long characters;
    private int depth;

    /// Counts work, such as elements touched.
    public void step(long n) {
        steps += n;
        if (steps > MAX_STEPS) {
            throw new TemplateFailure("it does more work than " + MAX_STEPS + " steps");
        }
    }

    /// Counts the characters of a string before it is made.
    public void string(long length) {
        characters += length;
        if (length > MAX_LENGTH || characters > MAX_CHARACTERS) {
            throw new TemplateFailure("it makes a text of more than " + MAX_LENGTH + " characters, or more than "
                    + MAX_CHARACTERS + " in all");
        }
    }

    /// Counts a string that was made, and returns it.
    public String made(String text) {
        string(text.length());
        return text;
    }

    /// Fails if a text under construction is too long already.
    public static void check(CharSequence text) {
        if (text.length() > MAX_LENGTH) {
            throw new TemplateFailure("it makes a text of more than " + MAX_LENGTH + " characters");
        }
    }

    /// Enters a macro or another nested block, which [#leave()] leaves.
    public void enter() {
        if (++depth > MAX_DEPTH) {
            throw new TemplateFailure("its macros call each other more than " + MAX_DEPTH + " levels deep");
        }
    }

    public void leave() {
        depth--;
    }
}
