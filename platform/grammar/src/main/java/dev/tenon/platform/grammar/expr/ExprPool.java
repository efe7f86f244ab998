package dev.tenon.platform.grammar.expr;

import dev.tenon.platform.grammar.expr.Expr.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Makes expressions, simplified, and one object for equal ones. Not safe for several threads.
///
/// First a grammar is built of its expressions and [rules][#rule]; then [Derivatives] closes the
/// pool, and makes the derivatives that texts lead to.
public final class ExprPool {
    private static final Comparator<Expr> BY_ID = Comparator.comparingInt(Expr::id);

    private final GrammarLimits limits;
    private final Work work;
    private final Map<Expr, Expr> interned = new HashMap<>();
    /// The expressions of the grammar, in the order of their ids; not those that derivatives add.
    private final List<Expr> base = new ArrayList<>();
    private final List<Rule> rules = new ArrayList<>();
    private boolean closed;
    private int nextId;
    private int added;

    /// One byte each, as far as texts have needed it.
    private final Expr[] singleBytes = new Expr[256];

    private final Expr nothing;
    private final Expr empty;
    private final Expr all;

    /// Makes a pool with nothing in it.
    ///
    /// @param limits what it may hold
    public ExprPool(GrammarLimits limits) {
        this(limits, new Work("Compiling the grammar", limits.compileWork()));
    }

    /// Makes a pool with nothing in it, whose work counts as that of another one.
    ///
    /// @param other the other pool
    public ExprPool(ExprPool other) {
        this(other.limits, other.work);
    }

    private ExprPool(GrammarLimits limits, Work work) {
        this.limits = limits;
        this.work = work;
        this.nothing = intern(new Expr(Kind.NOTHING, null, Expr.NO_PARTS, 0, 0, null));
        this.empty = intern(new Expr(Kind.EMPTY, null, Expr.NO_PARTS, 0, 0, null));
        this.all = repeat(bytes(0, 255), 0, Expr.UNBOUNDED);
    }

    /// {@return what it may hold}
    public GrammarLimits limits() {
        return limits;
    }

    /// {@return what counts the work on its expressions}
    public Work work() {
        return work;
    }

    /// {@return the language without any text}
    public Expr nothing() {
        return nothing;
    }

    /// {@return the empty text}
    public Expr empty() {
        return empty;
    }

    /// {@return all texts, also those that are not UTF-8}
    public Expr all() {
        return all;
    }

    /// {@return one byte of a range}
    ///
    /// @param from the first, 0 to 255
    /// @param to the last one
    public Expr bytes(int from, int to) {
        return bytes(ByteSet.range(from, to));
    }

    private Expr singleByte(int value) {
        if (singleBytes[value] == null) {
            singleBytes[value] = bytes(value, value);
        }
        return singleBytes[value];
    }

    Expr bytes(ByteSet set) {
        return set.isEmpty() ? nothing : intern(new Expr(Kind.BYTES, set, Expr.NO_PARTS, 0, 0, null));
    }

    /// {@return exactly this text}
    ///
    /// @param text any text
    public Expr literal(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        Expr expr = empty;
        for (int i = utf8.length - 1; i >= 0; i--) {
            expr = concat(singleByte(utf8[i] & 255), expr);
        }
        return expr;
    }

    /// {@return the parts after each other}
    ///
    /// @param parts expressions of this pool
    public Expr concat(Expr... parts) {
        Expr expr = empty;
        for (int i = parts.length - 1; i >= 0; i--) {
            expr = concat(parts[i], expr);
        }
        return expr;
    }

    /// {@return two parts after each other}
    ///
    /// @param first an expression of this pool
    /// @param second another one
    public Expr concat(Expr first, Expr second) {
        if (first.isNothing() || second.isNothing()) {
            return nothing;
        }
        if (first.isEmpty()) {
            return second;
        }
        if (second.isEmpty()) {
            return first;
        }
        if (first.kind != Kind.CONCAT) {
            return intern(new Expr(Kind.CONCAT, null, new Expr[] {first, second}, 0, 0, null));
        }
        List<Expr> left = new ArrayList<>();
        Expr rest = first;
        for (; rest.kind == Kind.CONCAT; rest = rest.parts[1]) {
            work.add(1);
            left.add(rest.parts[0]);
        }
        left.add(rest);
        Expr expr = second;
        for (Expr part : left.reversed()) {
            expr = intern(new Expr(Kind.CONCAT, null, new Expr[] {part, expr}, 0, 0, null));
        }
        return expr;
    }

    /// {@return any one of the parts}
    ///
    /// @param parts expressions of this pool
    public Expr or(Expr... parts) {
        return or(Arrays.asList(parts));
    }

    /// {@return any one of the parts}
    ///
    /// @param parts expressions of this pool
    public Expr or(Iterable<Expr> parts) {
        Expr only = nothing;
        for (Expr part : parts) {
            if (only.isNothing()) {
                only = part;
            } else if (only != part && !part.isNothing()) {
                return orOfSeveral(parts);
            }
        }
        return only;
    }

    private Expr orOfSeveral(Iterable<Expr> parts) {
        List<Expr> flat = new ArrayList<>();
        ByteSet set = null;
        for (Expr part : parts) {
            Expr[] members = part.kind == Kind.OR ? part.parts : new Expr[] {part};
            work.add(members.length);
            for (Expr each : members) {
                if (each == all) {
                    return all;
                }
                if (each.kind == Kind.BYTES) {
                    set = set == null ? each.bytes : set.or(each.bytes);
                } else if (!each.isNothing() && each.alive != Expr.Answer.NO) {
                    flat.add(each);
                }
            }
        }
        if (set != null) {
            flat.add(bytes(set));
        }
        Expr[] sorted = sorted(flat);
        return switch (sorted.length) {
            case 0 -> nothing;
            case 1 -> sorted[0];
            default -> intern(new Expr(Kind.OR, null, sorted, 0, 0, null));
        };
    }

    /// {@return what belongs to all parts}
    ///
    /// @param parts expressions of this pool without rules
    public Expr and(Expr... parts) {
        List<Expr> flat = new ArrayList<>();
        ByteSet set = null;
        for (Expr part : parts) {
            Expr[] members = part.kind == Kind.AND ? part.parts : new Expr[] {part};
            work.add(members.length);
            for (Expr each : members) {
                if (each.isNothing() || each.alive == Expr.Answer.NO) {
                    return nothing;
                }
                if (each.kind == Kind.BYTES) {
                    set = set == null ? each.bytes : set.and(each.bytes);
                } else if (each != all) {
                    flat.add(each);
                }
            }
        }
        if (set != null) {
            if (set.isEmpty()) {
                return nothing;
            }
            flat.add(bytes(set));
        }
        Expr[] sorted = sorted(flat);
        return switch (sorted.length) {
            case 0 -> all;
            case 1 -> sorted[0];
            default -> intern(new Expr(Kind.AND, null, sorted, 0, 0, null));
        };
    }

    /// {@return each of them once, by their ids}
    private static Expr[] sorted(List<Expr> parts) {
        parts.sort(BY_ID);
        int size = 0;
        for (Expr part : parts) {
            if (size == 0 || parts.get(size - 1) != part) {
                parts.set(size++, part);
            }
        }
        return parts.subList(0, size).toArray(Expr[]::new);
    }

    /// {@return what does not belong to a part, of all texts of bytes}
    ///
    /// @param part an expression of this pool without rules
    public Expr not(Expr part) {
        if (part.isNothing()) {
            return all;
        }
        if (part == all) {
            return nothing;
        }
        return part.kind == Kind.NOT ? part.parts[0] : intern(new Expr(Kind.NOT, null, new Expr[] {part}, 0, 0, null));
    }

    /// {@return a part or the empty text}
    ///
    /// @param part an expression of this pool
    public Expr optional(Expr part) {
        return or(part, empty);
    }

    /// {@return a part several times}
    ///
    /// @param part an expression of this pool
    /// @param min how often at least
    /// @param max how often at most; [Expr#UNBOUNDED] for no limit
    public Expr repeat(Expr part, int min, int max) {
        if (max == 0 || part.isEmpty()) {
            return empty;
        }
        if (part.isNothing()) {
            return min == 0 ? empty : nothing;
        }
        if (min == 1 && max == 1) {
            return part;
        }
        if (part.kind == Kind.REPEAT && part.min == 0 && part.max == Expr.UNBOUNDED) {
            return part;
        }
        if (!closed && part.counts > 1) {
            limits.checkRepeats(part.counts * Expr.counted(min, max));
        }
        return intern(new Expr(Kind.REPEAT, null, new Expr[] {part}, min, max, null));
    }

    /// {@return digits whose number leaves a remainder; signs and points are passed over}
    ///
    /// @param divisor by what it is divided, 1 to 100,000,000
    /// @param remainder what remains
    public Expr multiple(int divisor, int remainder) {
        return intern(new Expr(Kind.MULTIPLE, null, Expr.NO_PARTS, divisor, remainder, null));
    }

    /// {@return a new rule, which is to be defined}
    ///
    /// @param name its name, for messages
    public Rule rule(String name) {
        Rule rule = new Rule(name);
        rules.add(rule);
        return rule;
    }

    /// {@return a text of a rule}
    ///
    /// @param rule a rule of this pool
    public Expr call(Rule rule) {
        return intern(new Expr(Kind.CALL, null, Expr.NO_PARTS, 0, 0, rule));
    }

    private Expr intern(Expr expr) {
        work.add(2 + expr.parts.length);
        Expr known = interned.get(expr);
        if (known != null) {
            return known;
        }
        expr.id = nextId++;
        if (closed) {
            Flags.set(expr);
            added += 1 + expr.parts.length / 8; // what has many parts costs more
            if (added > limits.statesInAMask()) {
                throw GrammarException.limit("A token leads to more than " + limits.statesInAMask()
                        + " states of the grammar. Make its repetitions and patterns simpler.");
            }
        } else {
            base.add(expr);
            if (base.size() > limits.expressions()) {
                throw GrammarException.limit(
                        "The grammar has more than " + limits.expressions() + " expressions. Make it smaller.");
            }
        }
        interned.put(expr, expr);
        return expr;
    }

    /// {@return the expressions of the grammar, parts before the whole}
    List<Expr> base() {
        return base;
    }

    /// {@return the rules, in the order in which they were made}
    List<Rule> rules() {
        return rules;
    }

    /// Has what is made from now on know whether it is nullable and alive.
    void close() {
        closed = true;
        added = 0;
    }

    /// {@return how many expressions derivatives have added since the last [#forgetAdded()]}
    int size() {
        return interned.size() - base.size();
    }

    /// Allows as many new expressions as a mask may add.
    void beginMask() {
        added = 0;
    }

    /// Forgets what derivatives have added. Expressions that are still in use stay as they are, but
    /// equal ones are made again.
    void forgetAdded() {
        interned.clear();
        for (Expr expr : base) {
            interned.put(expr, expr);
            expr.forget();
        }
    }
}
