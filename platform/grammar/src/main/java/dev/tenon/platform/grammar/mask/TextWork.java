package dev.tenon.platform.grammar.mask;

import dev.tenon.platform.grammar.expr.GrammarLimits;
import dev.tenon.platform.grammar.expr.Work;

/// What reading one text by a grammar has cost, and whether it is in haste.
final class TextWork {
    private final GrammarLimits limits;
    private boolean quick;
    private long left;

    TextWork(GrammarLimits limits) {
        this.limits = limits;
        this.left = limits.textWork();
    }

    /// {@return the same for another text with the same beginning}
    TextWork copy() {
        TextWork copy = new TextWork(limits);
        copy.quick = quick;
        copy.left = left;
        return copy;
    }

    boolean quick() {
        return quick;
    }

    void quick(boolean wanted) {
        quick = wanted;
    }

    /// Begins a mask or a token.
    void begin(Work work) {
        if (quick) {
            work.beginQuick(limits.quickWork());
        } else if (left < limits.maskWork()) {
            work.begin("Reading the whole text by its grammar", left, limits.textWork());
        } else {
            work.begin("A mask or token of the grammar", limits.maskWork());
        }
    }

    void end(Work work) {
        left = Math.max(0, left - work.done());
    }
}
