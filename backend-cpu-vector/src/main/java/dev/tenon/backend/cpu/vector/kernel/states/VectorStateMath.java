package dev.tenon.backend.cpu.vector.kernel.states;

import static dev.tenon.backend.cpu.vector.kernel.Species.F;
import static dev.tenon.backend.cpu.vector.kernel.Species.LANES;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
import jdk.incubator.vector.FloatVector;

/// Ops with a state with the Vector API: columns are lanes, of four vectors at once while there are as many.
@CompileThresholdScaling(0.03)
public final class VectorStateMath implements StateMath {
    private static final int FOUR = 4 * LANES;

    @Override
    public void scan(StateWork w) {
        int p = 0;
        for (; p + FOUR <= w.columns; p += FOUR) {
            scanFour(w, p);
        }
        for (; p + LANES <= w.columns; p += LANES) {
            scanOne(w, p);
        }
        ScalarStateMath.scan(w, p);
    }

    private static void scanFour(StateWork w, int first) {
        float[] z = w.state;
        float[] in = w.in;
        int x = w.column + first;
        int y = w.to + first;
        FloatVector decay = FloatVector.broadcast(F, w.decay);
        FloatVector x0 = FloatVector.fromArray(F, in, x).mul(w.strength);
        FloatVector x1 = FloatVector.fromArray(F, in, x + LANES).mul(w.strength);
        FloatVector x2 = FloatVector.fromArray(F, in, x + 2 * LANES).mul(w.strength);
        FloatVector x3 = FloatVector.fromArray(F, in, x + 3 * LANES).mul(w.strength);
        FloatVector y0 = FloatVector.fromArray(F, w.out, y);
        FloatVector y1 = FloatVector.fromArray(F, w.out, y + LANES);
        FloatVector y2 = FloatVector.fromArray(F, w.out, y + 2 * LANES);
        FloatVector y3 = FloatVector.fromArray(F, w.out, y + 3 * LANES);
        int at = w.at + first;
        for (int s = 0; s < w.rows; s++) {
            FloatVector b = FloatVector.broadcast(F, in[w.key + s]);
            FloatVector c = FloatVector.broadcast(F, in[w.query + s]);
            y0 = moved(z, at, decay, x0.mul(b)).fma(c, y0);
            y1 = moved(z, at + LANES, decay, x1.mul(b)).fma(c, y1);
            y2 = moved(z, at + 2 * LANES, decay, x2.mul(b)).fma(c, y2);
            y3 = moved(z, at + 3 * LANES, decay, x3.mul(b)).fma(c, y3);
            at += w.columns;
        }
        y0.intoArray(w.out, y);
        y1.intoArray(w.out, y + LANES);
        y2.intoArray(w.out, y + 2 * LANES);
        y3.intoArray(w.out, y + 3 * LANES);
    }

    private static void scanOne(StateWork w, int first) {
        FloatVector decay = FloatVector.broadcast(F, w.decay);
        FloatVector x = FloatVector.fromArray(F, w.in, w.column + first).mul(w.strength);
        FloatVector y = FloatVector.fromArray(F, w.out, w.to + first);
        int at = w.at + first;
        for (int s = 0; s < w.rows; s++) {
            FloatVector c = FloatVector.broadcast(F, w.in[w.query + s]);
            y = moved(w.state, at, decay, x.mul(w.in[w.key + s])).fma(c, y);
            at += w.columns;
        }
        y.intoArray(w.out, w.to + first);
    }

    /// Moves a vector of the state on: times a factor, plus a term.
    @ForceInline
    private static FloatVector moved(float[] state, int at, FloatVector factor, FloatVector term) {
        FloatVector moved = FloatVector.fromArray(F, state, at).fma(factor, term);
        moved.intoArray(state, at);
        return moved;
    }

    @Override
    public void correct(StateWork w) {
        int j = 0;
        for (; j + FOUR <= w.columns; j += FOUR) {
            correctFour(w, j);
        }
        for (; j + LANES <= w.columns; j += LANES) {
            correctOne(w, j);
        }
        ScalarStateMath.correct(w, j);
    }

    private static void correctFour(StateWork w, int first) {
        float[] m = w.state;
        float[] in = w.in;
        FloatVector f0 = FloatVector.zero(F);
        FloatVector f1 = f0;
        FloatVector f2 = f0;
        FloatVector f3 = f0;
        int at = w.at + first;
        for (int i = 0; i < w.rows; i++) {
            FloatVector k = FloatVector.broadcast(F, in[w.key + i]);
            f0 = FloatVector.fromArray(F, m, at).fma(k, f0);
            f1 = FloatVector.fromArray(F, m, at + LANES).fma(k, f1);
            f2 = FloatVector.fromArray(F, m, at + 2 * LANES).fma(k, f2);
            f3 = FloatVector.fromArray(F, m, at + 3 * LANES).fma(k, f3);
            at += w.columns;
        }
        FloatVector e0 = correction(w, first, f0);
        FloatVector e1 = correction(w, first + LANES, f1);
        FloatVector e2 = correction(w, first + 2 * LANES, f2);
        FloatVector e3 = correction(w, first + 3 * LANES, f3);
        FloatVector decay = FloatVector.broadcast(F, w.decay);
        FloatVector o0 = FloatVector.zero(F);
        FloatVector o1 = o0;
        FloatVector o2 = o0;
        FloatVector o3 = o0;
        at = w.at + first;
        for (int i = 0; i < w.rows; i++) {
            FloatVector k = FloatVector.broadcast(F, in[w.key + i]);
            FloatVector q = FloatVector.broadcast(F, in[w.query + i]);
            o0 = corrected(m, at, decay, k, e0).fma(q, o0);
            o1 = corrected(m, at + LANES, decay, k, e1).fma(q, o1);
            o2 = corrected(m, at + 2 * LANES, decay, k, e2).fma(q, o2);
            o3 = corrected(m, at + 3 * LANES, decay, k, e3).fma(q, o3);
            at += w.columns;
        }
        int o = w.to + first;
        o0.mul(w.queryFactor).intoArray(w.out, o);
        o1.mul(w.queryFactor).intoArray(w.out, o + LANES);
        o2.mul(w.queryFactor).intoArray(w.out, o + 2 * LANES);
        o3.mul(w.queryFactor).intoArray(w.out, o + 3 * LANES);
    }

    private static void correctOne(StateWork w, int first) {
        FloatVector found = FloatVector.zero(F);
        int at = w.at + first;
        for (int i = 0; i < w.rows; i++) {
            FloatVector k = FloatVector.broadcast(F, w.in[w.key + i]);
            found = FloatVector.fromArray(F, w.state, at).fma(k, found);
            at += w.columns;
        }
        FloatVector e = correction(w, first, found);
        FloatVector decay = FloatVector.broadcast(F, w.decay);
        FloatVector sum = FloatVector.zero(F);
        at = w.at + first;
        for (int i = 0; i < w.rows; i++) {
            FloatVector k = FloatVector.broadcast(F, w.in[w.key + i]);
            FloatVector q = FloatVector.broadcast(F, w.in[w.query + i]);
            sum = corrected(w.state, at, decay, k, e).fma(q, sum);
            at += w.columns;
        }
        sum.mul(w.queryFactor).intoArray(w.out, w.to + first);
    }

    /// The correction of a vector of columns.
    @ForceInline
    private static FloatVector correction(StateWork w, int first, FloatVector found) {
        return FloatVector.fromArray(F, w.in, w.column + first)
                .sub(found.mul(w.decay * w.keyFactor))
                .mul(w.keyFactor * w.strength);
    }

    /// Corrects a vector of the state.
    @ForceInline
    private static FloatVector corrected(float[] state, int at, FloatVector decay, FloatVector k, FloatVector e) {
        FloatVector corrected = k.fma(e, FloatVector.fromArray(F, state, at).mul(decay));
        corrected.intoArray(state, at);
        return corrected;
    }
}
