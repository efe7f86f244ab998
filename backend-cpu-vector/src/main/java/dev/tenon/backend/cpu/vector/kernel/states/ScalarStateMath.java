package dev.tenon.backend.cpu.vector.kernel.states;

/// Ops with a state in plain Java.
final class ScalarStateMath implements StateMath {
    @Override
    public void scan(StateWork w) {
        scan(w, 0);
    }

    @Override
    public void correct(StateWork w) {
        correct(w, 0);
    }

    /// Scans the columns from one on.
    static void scan(StateWork w, int from) {
        float[] z = w.state;
        float[] in = w.in;
        for (int p = from; p < w.columns; p++) {
            float input = w.strength * in[w.column + p];
            float sum = w.out[w.to + p];
            int at = w.at + p;
            for (int s = 0; s < w.rows; s++) {
                z[at] = Math.fma(z[at], w.decay, input * in[w.key + s]);
                sum = Math.fma(z[at], in[w.query + s], sum);
                at += w.columns;
            }
            w.out[w.to + p] = sum;
        }
    }

    /// Corrects the columns from one on.
    static void correct(StateWork w, int from) {
        float[] m = w.state;
        float[] in = w.in;
        float there = w.decay * w.keyFactor;
        float strength = w.keyFactor * w.strength;
        for (int j = from; j < w.columns; j++) {
            float found = 0;
            int at = w.at + j;
            for (int i = 0; i < w.rows; i++) {
                found = Math.fma(m[at], in[w.key + i], found);
                at += w.columns;
            }
            float e = (in[w.column + j] - found * there) * strength;
            float sum = 0;
            at = w.at + j;
            for (int i = 0; i < w.rows; i++) {
                m[at] = Math.fma(in[w.key + i], e, m[at] * w.decay);
                sum = Math.fma(m[at], in[w.query + i], sum);
                at += w.columns;
            }
            w.out[w.to + j] = sum * w.queryFactor;
        }
    }
}
