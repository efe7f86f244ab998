package dev.tenon.platform.templates.values;

import java.util.Arrays;
import java.util.Locale;

/// A string of a template, which knows which of its characters are the client's.
///
/// Templates see the characters alone: equality, hash and order do not depend on whose they are.
/// What an operation cannot attribute character by character counts as the client's if any of its
/// input is. Immutable.
public final class Text implements Comparable<Text> {
    static final Text EMPTY = new Text("", new int[0]);
    private static final int[] NOTHING = {};

    private final String string;
    private final int[] client;

    private Text(String string, int[] client) {
        this.string = string;
        this.client = client;
    }

    /// {@return a text of the template}
    public static Text of(String string) {
        return new Text(string, NOTHING);
    }

    /// {@return a text of which parts are the client's}
    ///
    /// @param string its characters
    /// @param client start and end, in turn, of what is the client's, ascending; not changed
    ///     afterwards
    public static Text of(String string, int[] client) {
        return new Text(string, client);
    }

    /// {@return a text made of others: the client's if any of those has a character of the
    ///     client's}
    static Text madeOf(String string, Object... sources) {
        boolean any = Arrays.stream(sources).anyMatch(source -> source instanceof Text text && text.hasClient());
        return any && !string.isEmpty() ? new Text(string, new int[] {0, string.length()}) : of(string);
    }

    /// {@return start and end, in turn, of what is the client's; not to be changed}
    public int[] client() {
        return client;
    }

    boolean hasClient() {
        return client.length > 0;
    }

    /// {@return whether a char is the client's}
    boolean isClient(int index) {
        return Arrays.binarySearch(client, index) % 2 == 0; // on a start, or after one
    }

    @Override
    public String toString() {
        return string;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Text text && string.equals(text.string);
    }

    @Override
    public int hashCode() {
        return string.hashCode();
    }

    /// In the order of code points.
    @Override
    public int compareTo(Text other) {
        int at = 0;
        int least = Math.min(string.length(), other.string.length());
        while (at < least && string.charAt(at) == other.string.charAt(at)) {
            at++;
        }
        if (at == least) {
            return Integer.compare(string.length(), other.string.length());
        }
        char a = string.charAt(at);
        char b = other.string.charAt(at);
        boolean surrogate = Character.isSurrogate(a);
        return surrogate == Character.isSurrogate(b) ? Character.compare(a, b) : surrogate ? 1 : -1;
    }

    boolean isEmpty() {
        return string.isEmpty();
    }

    /// {@return number of code points}
    int length() {
        return string.codePointCount(0, string.length());
    }

    /// {@return the chars from one index to another}
    Text substring(int from, int to) {
        if (from == 0 && to == string.length()) {
            return this;
        }
        return client.length == 0
                ? of(string.substring(from, to))
                : new TextBuilder().append(this, from, to).toText();
    }

    Text substring(int from) {
        return substring(from, string.length());
    }

    /// {@return the code points from one position to another}
    Text slice(int from, int to) {
        int start = string.offsetByCodePoints(0, from);
        return substring(start, string.offsetByCodePoints(start, to - from));
    }

    /// {@return this and another text after it}
    public Text concat(Text other) {
        if (client.length == 0 && other.client.length == 0) {
            return of(string.concat(other.string));
        }
        return new TextBuilder().append(this).append(other).toText();
    }

    Text repeat(int times) {
        if (client.length == 0) {
            return of(string.repeat(times));
        }
        TextBuilder out = new TextBuilder();
        for (int i = 0; i < times; i++) {
            out.append(this);
        }
        return out.toText();
    }

    Text reverse() {
        int n = string.length();
        int[] mirrored = new int[client.length];
        for (int i = 0; i < client.length; i++) {
            mirrored[i] = n - client[client.length - 1 - i];
        }
        return new Text(new StringBuilder(string).reverse().toString(), mirrored);
    }

    /// {@return this text with its letters changed: as long as before, or else the client's if
    ///     any part is}
    Text changed(String changed) {
        return changed.length() == string.length() ? new Text(changed, client) : madeOf(changed, this);
    }

    Text upper() {
        return changed(string.toUpperCase(Locale.ROOT));
    }

    Text lower() {
        return changed(string.toLowerCase(Locale.ROOT));
    }

    /// {@return what printing a value writes}
    public static Text str(Budget budget, Object value) {
        if (value instanceof Text text) {
            return text;
        }
        return value instanceof Undefined ? EMPTY : Printer.repr(budget, value);
    }

    static Text need(Object value, String name) {
        Values.used(value);
        if (value instanceof Text text) {
            return text;
        }
        throw new TemplateFailure("'" + name + "' must be str, not " + Values.type(value));
    }
}
