package dev.tenon.platform.grammar.expr;

import java.util.Arrays;

/// A language of byte texts: a regular expression with intersection, complement and references to
/// rules.
///
/// Made by an [ExprPool], which makes one object for equal expressions; only those of one pool go
/// together. What is learnt about an expression, such as its derivatives, is kept in it by the
/// pool.
public final class Expr {
    /// In place of a repetition's upper bound: there is none.
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    static final Expr[] NO_PARTS = {};

    enum Kind {
        /// No text at all.
        NOTHING,
        /// The empty text.
        EMPTY,
        /// One byte of a set.
        BYTES,
        /// A text of the first part, then one of the second.
        CONCAT,
        /// A text of one of the parts.
        OR,
        /// A text of all parts.
        AND,
        /// A text that is not of the part.
        NOT,
        /// So many texts of the part after each other.
        REPEAT,
        /// Digits whose number leaves a remainder; signs and points between them are passed over.
        MULTIPLE,
        /// A text of a rule.
        CALL
    }

    enum Answer {
        UNKNOWN,
        YES,
        NO
    }

    final Kind kind;
    final ByteSet bytes;
    final Expr[] parts;
    final int min;
    final int max;
    final Rule rule;
    /// The greatest product of bounds of repetitions within each other.
    final long counts;

    private final int hash;

    /// Order of creation: parts come before the whole.
    int id;
    /// Whether the empty text belongs to it; valid when the pool is closed.
    boolean nullable;
    /// Whether any text belongs to it; valid when the pool is closed.
    Answer alive = Answer.UNKNOWN;

    private Expr[] next;
    private Head[] heads;

    Expr(Kind kind, ByteSet bytes, Expr[] parts, int min, int max, Rule rule) {
        this.kind = kind;
        this.bytes = bytes;
        this.parts = parts;
        this.min = min;
        this.max = max;
        this.rule = rule;
        int h = kind.ordinal() + 31 * (bytes == null ? 0 : bytes.hashCode());
        long most = 1;
        for (Expr part : parts) {
            h = 31 * h + part.id;
            most = Math.max(most, part.counts);
        }
        this.counts = kind == Kind.REPEAT ? most * counted(min, max) : most;
        h = 31 * (31 * h + min) + max;
        this.hash = 31 * h + (rule == null ? 0 : rule.hashCode());
    }

    /// {@return to how much a repetition counts}
    static long counted(int min, int max) {
        return Math.max(1, max == UNBOUNDED ? min : max);
    }

    /// A rule that the texts of an expression begin with.
    ///
    /// @param rule the rule; its text is not empty
    /// @param rest what follows
    public record Head(Rule rule, Expr rest) {}

    /// {@return whether no text belongs to it, as far as its form tells}
    public boolean isNothing() {
        return kind == Kind.NOTHING;
    }

    /// {@return whether only the empty text belongs to it}
    public boolean isEmpty() {
        return kind == Kind.EMPTY;
    }

    /// {@return whether the empty text belongs to it; of an expression of a closed pool}
    public boolean isNullable() {
        return nullable;
    }

    /// {@return a number that tells it from the other expressions of its pool}
    public int id() {
        return id;
    }

    Expr cachedNext(int byteClass) {
        return next == null ? null : next[byteClass];
    }

    void cacheNext(int byteClass, int classes, Expr derivative) {
        if (next == null) {
            next = new Expr[classes];
        }
        next[byteClass] = derivative;
    }

    Head[] cachedHeads() {
        return heads;
    }

    void cacheHeads(Head[] found) {
        heads = found;
    }

    void forget() {
        next = null;
        heads = null;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || other instanceof Expr e
                        && hash == e.hash
                        && kind == e.kind
                        && min == e.min
                        && max == e.max
                        && rule == e.rule
                        && (bytes == null ? e.bytes == null : bytes.equals(e.bytes))
                        && sameParts(e);
    }

    private boolean sameParts(Expr e) {
        if (parts.length != e.parts.length) {
            return false;
        }
        for (int i = 0; i < parts.length; i++) {
            if (parts[i] != e.parts[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return kind + (rule == null ? "" : " " + rule.name()) + (parts.length == 0 ? "" : Arrays.toString(parts));
    }
}
