package dev.tenon.platform.templates.values;

import java.util.AbstractList;

/// Whole numbers from one up to another, by a step.
final class Range extends AbstractList<Object> {
    private final long start;
    private final long stop;
    private final long step;
    private final int size;

    Range(long start, long stop, long step) {
        if (step == 0) {
            throw new TemplateFailure("range() arg 3 must not be zero");
        }
        long n = Math.max(0, Math.ceilDiv(stop - start, step));
        if (n > Budget.MAX_RANGE) {
            throw new TemplateFailure("Range too big. A range has at most " + Budget.MAX_RANGE + " items.");
        }
        this.start = start;
        this.stop = stop;
        this.step = step;
        this.size = (int) n;
    }

    @Override
    public Object get(int index) {
        return start + index * step;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public String toString() {
        return "range(" + start + ", " + stop + (step == 1 ? ")" : ", " + step + ")");
    }
}
