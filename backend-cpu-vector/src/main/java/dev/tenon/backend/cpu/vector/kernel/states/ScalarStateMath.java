package dev.tenon.backend.cpu.vector.kernel.states;

/// Ops with a state in plain Java: row after row, as they lie.
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
        for (int s = 0; s < w.rows; s++) {
            scanRow(w, w.at + s * w.columns, w.in[w.key + s], w.in[w.query + s], from);
        }
    }

    private static void scanRow(StateWork w, int row, float b, float c, int from) {
        float[] z = w.state;
        float[] out = w.out;
        for (int p = from; p < w.columns; p++) {
            z[row + p] = Math.fma(z[row + p], w.decay, w.strength * w.in[w.column + p] * b);
            out[w.to + p] = Math.fma(z[row + p], c, out[w.to + p]);
        }
    }

    /// Corrects the columns from one on.
    static void correct(StateWork w, int from) {
        float[] corrections = w.corrections;
        for (int j = from; j < w.columns; j++) {
            corrections[j] = 0;
            w.out[w.to + j] = 0;
        }
        for (int i = 0; i < w.rows; i++) {
            find(w, w.at + i * w.columns, w.in[w.key + i], from);
        }
        for (int j = from; j < w.columns; j++) {
            float there = corrections[j] * (w.decay * w.keyFactor);
            corrections[j] = (w.in[w.column + j] - there) * (w.keyFactor * w.strength);
        }
        for (int i = 0; i < w.rows; i++) {
            correctRow(w, w.at + i * w.columns, w.in[w.key + i], w.in[w.query + i], from);
        }
        for (int j = from; j < w.columns; j++) {
            w.out[w.to + j] *= w.queryFactor;
        }
    }

    private static void find(StateWork w, int row, float k, int from) {
        for (int j = from; j < w.columns; j++) {
            w.corrections[j] = Math.fma(w.state[row + j], k, w.corrections[j]);
        }
    }

    private static void correctRow(StateWork w, int row, float k, float q, int from) {
        float[] m = w.state;
        float[] out = w.out;
        for (int j = from; j < w.columns; j++) {
            m[row + j] = Math.fma(k, w.corrections[j], m[row + j] * w.decay);
            out[w.to + j] = Math.fma(m[row + j], q, out[w.to + j]);
        }
    }
}
