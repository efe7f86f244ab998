package dev.tenon.platform.grammar.expr;

import dev.tenon.platform.grammar.expr.Expr.Answer;
import dev.tenon.platform.grammar.expr.Expr.Head;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What remains of the expressions of a pool after a byte (Brzozowski's derivatives), made when it
/// is first asked for.
///
/// Bytes that no expression tells apart are one class. Rules are no part of a derivative: [#heads]
/// names those that a text may begin with. Not safe for several threads.
public final class Derivatives {
    private static final int MOST_ENDS = 8;

    private final ExprPool pool;
    private final byte[] classOf = new byte[256];
    private final int[] example;
    /// Classes of the bytes of texts that searches found last.
    private final Deque<int[]> ends = new ArrayDeque<>();
    private final Map<Slice, SliceDerivatives> slices = new EnumMap<>(Slice.class);

    /// Closes a pool: nothing may be added to its grammar afterwards.
    ///
    /// @param pool the expressions; all its rules are defined
    /// @param root the whole grammar, of which alone derivatives may be asked for
    /// @throws GrammarException (`GRAMMAR-002`) if a rule begins with itself, (`GRAMMAR-003`) if it
    ///     is too large
    public Derivatives(ExprPool pool, Expr root) {
        this.pool = pool;
        this.example = classes(root);
        findNullable();
        pool.close();
        findAlive();
        RuleOrder.rank(pool.rules(), this);
        for (Slice slice : Slice.values()) {
            slices.put(slice, new SliceDerivatives(pool, this, slice));
        }
    }

    /// Tells apart what the grammar's sets of bytes do; not those that were made on the way to others.
    private int[] classes(Expr root) {
        Set<ByteSet> sets = new HashSet<>();
        Set<Expr> seen = new HashSet<>(Set.of(root));
        Deque<Expr> open = new ArrayDeque<>(seen);
        while (!open.isEmpty()) {
            Expr e = open.removeLast();
            if (e.kind == Expr.Kind.BYTES) {
                sets.add(e.bytes);
            } else if (e.kind == Expr.Kind.MULTIPLE) {
                "-.0123456789".chars().forEach(c -> sets.add(ByteSet.range(c, c)));
            }
            for (Expr part : e.kind == Expr.Kind.CALL ? new Expr[] {e.rule.body()} : e.parts) {
                if (seen.add(part)) {
                    open.add(part);
                }
            }
        }
        int[] sizes = new int[257];
        sizes[0] = 256;
        int count = 1;
        for (ByteSet set : sets) {
            int[] within = new int[count];
            for (int b = set.next(0); b < 256; b = set.next(b + 1)) {
                within[classOf(b)]++;
            }
            int[] split = new int[count];
            for (int b = set.next(0); b < 256; b = set.next(b + 1)) {
                int c = classOf(b);
                if (within[c] < sizes[c]) {
                    split[c] = split[c] == 0 ? count++ : split[c];
                    classOf[b] = (byte) split[c];
                }
            }
            for (int c = 0; c < split.length; c++) {
                if (split[c] > 0) {
                    sizes[split[c]] = within[c];
                    sizes[c] -= within[c];
                }
            }
        }
        int[] first = new int[count];
        for (int b = 255; b >= 0; b--) {
            first[classOf[b] & 255] = b;
        }
        return first;
    }

    private void findNullable() {
        boolean changed = true;
        while (changed) {
            for (Expr e : pool.base()) {
                pool.work().add(1 + e.parts.length);
                e.nullable = Flags.nullable(e);
            }
            changed = false;
            for (Rule rule : pool.rules()) {
                if (rule.body().nullable != rule.nullable) {
                    rule.nullable = rule.body().nullable;
                    changed = true;
                }
            }
        }
    }

    private void findAlive() {
        List<Expr> base = List.copyOf(pool.base());
        for (Expr e : base) {
            if (e.kind == Expr.Kind.AND) {
                for (Expr part : e.parts) {
                    part.alive = part.alive == Answer.UNKNOWN ? Flags.alive(part) : part.alive;
                }
                search(e);
            }
        }
        boolean changed = true;
        while (changed) {
            for (Expr e : base) {
                pool.work().add(1 + e.parts.length);
                if (e.kind != Expr.Kind.AND && e.kind != Expr.Kind.NOT) {
                    e.alive = Flags.alive(e);
                }
            }
            changed = false;
            for (Rule rule : pool.rules()) {
                if (!rule.productive && rule.body().alive == Answer.YES) {
                    rule.productive = true;
                    changed = true;
                }
            }
        }
    }

    /// {@return number of classes of bytes}
    public int classCount() {
        return example.length;
    }

    /// {@return the class of a byte}
    ///
    /// @param value 0 to 255
    public int classOf(int value) {
        return classOf[value] & 255;
    }

    /// {@return what counts the work}
    public Work work() {
        return pool.work();
    }

    /// Prepares for a mask, or a token: forgets what was derived if it has become much, and allows
    /// as many new expressions as one of them may add.
    ///
    /// @return whether anything was forgotten
    public boolean beginMask() {
        boolean much = pool.size() > 2 * pool.limits().statesInAMask();
        if (much) {
            pool.forgetAdded();
            slices.values().forEach(SliceDerivatives::forget);
        }
        pool.beginMask();
        return much;
    }

    /// {@return either of two}
    ///
    /// @param a an expression of the pool
    /// @param b another one
    public Expr or(Expr a, Expr b) {
        return a == b ? a : pool.or(a, b);
    }

    /// {@return the texts of an expression that begin with bytes of a class, without that byte; not
    ///     those that begin with a rule's text}
    ///
    /// @param e an expression of the pool
    /// @param byteClass the class
    public Expr next(Expr e, int byteClass) {
        Expr known = e.cachedNext(byteClass);
        if (known == null) {
            known = derive(e, byteClass);
            e.cacheNext(byteClass, example.length, known);
        }
        return known;
    }

    /// {@return the texts of an expression that begin with a character of a slice, without it, where they are the
    ///     same after each of them; null elsewhere}
    ///
    /// @param e an expression of the pool
    /// @param slice the characters
    public Expr next(Expr e, Slice slice) {
        return slices.get(slice).next(e);
    }

    /// {@return an expression with the same beginnings of texts up to a length, with less to count}
    ///
    /// @param e an expression of the pool
    /// @param bytes the length
    public Expr relaxed(Expr e, int bytes) {
        return switch (e.kind) {
            case CONCAT -> pool.concat(relaxed(e.parts[0], bytes), e.parts[1]);
            case OR ->
                pool.or(Arrays.stream(e.parts).map(part -> relaxed(part, bytes)).toList());
            case REPEAT ->
                e.parts[0].nullable
                        ? e
                        : pool.repeat(e.parts[0], Math.min(e.min, bytes), e.max >= bytes ? Expr.UNBOUNDED : e.max);
            default -> e; // the parts of an intersection matter together
        };
    }

    private Expr derive(Expr e, int c) {
        pool.work().add(2);
        return switch (e.kind) {
            case NOTHING, EMPTY, CALL -> pool.nothing();
            case BYTES -> e.bytes.contains(example[c]) ? pool.empty() : pool.nothing();
            case CONCAT -> deriveConcat(e, c);
            case OR -> pool.or(Arrays.asList(parts(e, c)));
            case AND -> pool.and(parts(e, c));
            case NOT -> pool.not(next(e.parts[0], c));
            case REPEAT -> pool.concat(next(e.parts[0], c), less(e));
            case MULTIPLE -> deriveMultiple(e, example[c]);
        };
    }

    private Expr[] parts(Expr e, int c) {
        Expr[] parts = new Expr[e.parts.length];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = next(e.parts[i], c);
        }
        return parts;
    }

    private Expr deriveConcat(Expr e, int c) {
        if (!e.parts[0].nullable) {
            return pool.concat(next(e.parts[0], c), e.parts[1]);
        }
        List<Expr> terms = new ArrayList<>();
        Expr rest = e;
        while (rest.kind == Expr.Kind.CONCAT) {
            terms.add(pool.concat(next(rest.parts[0], c), rest.parts[1]));
            if (!rest.parts[0].nullable) {
                return pool.or(terms);
            }
            rest = rest.parts[1];
        }
        terms.add(next(rest, c));
        return pool.or(terms);
    }

    /// {@return a repetition after its first part}
    Expr less(Expr e) {
        int min = e.parts[0].nullable ? 0 : Math.max(0, e.min - 1);
        return pool.repeat(e.parts[0], min, e.max == Expr.UNBOUNDED ? e.max : e.max - 1);
    }

    private Expr deriveMultiple(Expr e, int b) {
        if (b >= '0' && b <= '9') {
            return pool.multiple(e.min, (int) ((10L * e.max + b - '0') % e.min));
        }
        return b == '-' || b == '.' ? e : pool.nothing();
    }

    /// {@return the rules that texts of an expression begin with, each once; not to be changed}
    ///
    /// @param e an expression of the pool
    public Head[] heads(Expr e) {
        Head[] known = e.cachedHeads();
        if (known == null) {
            Map<Rule, Expr> rests = new IdentityHashMap<>();
            collect(e, pool.empty(), rests);
            known = rests.entrySet().stream()
                    .map(each -> new Head(each.getKey(), each.getValue()))
                    .toArray(Head[]::new);
            e.cacheHeads(known);
        }
        return known;
    }

    private void collect(Expr e, Expr after, Map<Rule, Expr> rests) {
        pool.work().add(1);
        Expr rest = e;
        while (rest.kind == Expr.Kind.CONCAT) {
            collect(rest.parts[0], pool.concat(rest.parts[1], after), rests);
            if (!rest.parts[0].nullable) {
                return;
            }
            rest = rest.parts[1];
        }
        switch (rest.kind) {
            case CALL -> {
                if (rest.rule.productive && isAlive(after)) {
                    rests.merge(rest.rule, after, pool::or);
                }
            }
            case OR -> {
                for (Expr part : rest.parts) {
                    collect(part, after, rests);
                }
            }
            case REPEAT -> collect(rest.parts[0], pool.concat(less(rest), after), rests);
            default -> {} // bytes, and intersections and complements, which have no rules
        }
    }

    /// {@return whether any text belongs to an expression}
    ///
    /// @param e an expression of the pool
    public boolean isAlive(Expr e) {
        if (e.alive == Answer.UNKNOWN) {
            boolean alive = switch (e.kind) {
                case CONCAT -> isAlive(e.parts[0]) && isAlive(e.parts[1]);
                case OR -> Arrays.stream(e.parts).anyMatch(this::isAlive);
                case REPEAT -> isAlive(e.parts[0]);
                default -> search(e);
            };
            e.alive = alive ? Answer.YES : Answer.NO;
        }
        return e.alive == Answer.YES;
    }

    /// Looks for a text of an intersection or complement: what ended others of late, then the shortest one. Notes
    /// what it learns of all expressions on its way.
    private boolean search(Expr root) {
        for (int[] end : ends) {
            if (endsBy(root, end)) {
                return true;
            }
        }
        List<Expr> seen = new ArrayList<>(List.of(root));
        List<Integer> from = new ArrayList<>(List.of(-1));
        List<Integer> by = new ArrayList<>(List.of(-1));
        Map<Expr, Boolean> known = new IdentityHashMap<>(Map.of(root, true));
        for (int at = 0; at < seen.size(); at++) {
            Expr e = seen.get(at);
            if (e.nullable || e.alive == Answer.YES) {
                Deque<Integer> end = new ArrayDeque<>();
                for (int i = at; i >= 0; i = from.get(i)) {
                    seen.get(i).alive = Answer.YES;
                    end.addFirst(by.get(i));
                }
                ends.addFirst(end.stream().skip(1).mapToInt(c -> c).toArray());
                if (ends.size() > MOST_ENDS) {
                    ends.removeLast();
                }
                return true;
            }
            pool.work().add(example.length);
            for (int c = 0; c < example.length && e.alive != Answer.NO; c++) {
                Expr next = next(e, c);
                if (known.put(next, true) == null) {
                    seen.add(next);
                    from.add(at);
                    by.add(c);
                }
            }
        }
        seen.forEach(each -> each.alive = Answer.NO);
        return false;
    }

    private boolean endsBy(Expr root, int[] end) {
        Expr e = root;
        for (int c : end) {
            e = next(e, c);
            if (e.alive == Answer.NO) {
                return false;
            }
            if (e.nullable || e.alive == Answer.YES) {
                root.alive = Answer.YES;
                return true;
            }
        }
        return false;
    }
}
