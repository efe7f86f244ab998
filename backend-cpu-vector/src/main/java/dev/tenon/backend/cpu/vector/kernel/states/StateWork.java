package dev.tenon.backend.cpu.vector.kernel.states;

/// What a thread works at: some columns of a head's state, and the numbers of a token. Each thread has one and
/// fills it again and again, so that steps allocate nothing.
public final class StateWork {
    /// Holds the columns, one row after the other.
    public float[] state;
    /// Index of the first element in it.
    public int at;
    /// Number of rows.
    public int rows;
    /// Number of columns, at most [StateMath#COLUMNS].
    public int columns;

    /// Factor on the state.
    public float decay;
    /// The scan: factor on `x`. The delta rule: strength of the correction.
    public float strength;
    /// Holds the inputs of the token.
    public float[] in;
    /// Index in it of the first column's element: of `x`, or of the value.
    public int column;
    /// Index in it of `b` or of the key.
    public int key;
    /// Index in it of `c` or of the query.
    public int query;
    /// The delta rule: factor on the key.
    public float keyFactor;
    /// The delta rule: factor on the query.
    public float queryFactor;
    /// Holds the results.
    public float[] out;
    /// Index in it of the first column's element.
    public int to;

    /// For the plain Java form: what it finds, then the corrections.
    final float[] corrections = new float[StateMath.COLUMNS];

    /// Creates it empty.
    public StateWork() {}
}
