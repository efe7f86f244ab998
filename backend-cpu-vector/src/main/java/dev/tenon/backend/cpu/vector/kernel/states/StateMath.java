package dev.tenon.backend.cpu.vector.kernel.states;

/// What ops with a state do for one token with some columns of a head's state, which have nothing to do with
/// the other columns. Stateless and safe for any thread; all forms give the same bits.
public interface StateMath {
    /// Most columns of a piece of work: its state stays in the first cache from token to token.
    int COLUMNS = 64;

    /// The plain Java form.
    StateMath SCALAR = new ScalarStateMath();

    /// The selective scan: with `z` the state, `x` the inputs of the columns, `b` the key and `c` the query,
    /// `z[s, p] = decay * z[s, p] + (strength * x[p]) * b[s]` and `out[p] += z[s, p] * c[s]`, with the rows `s`
    /// in ascending order.
    ///
    /// @param w what to do
    void scan(StateWork w);

    /// The gated delta rule: with `m` the state, `v` the inputs of the columns, `k` the key and `q` the query,
    /// `f[j] = sum_i m[i, j] * k[i]`, `e[j] = keyFactor * strength * (v[j] - decay * keyFactor * f[j])`,
    /// `m[i, j] = k[i] * e[j] + decay * m[i, j]` and `out[j] = queryFactor * sum_i m[i, j] * q[i]`, with the
    /// rows `i` in ascending order.
    ///
    /// @param w what to do
    void correct(StateWork w);

    /// {@return `log(1 + e^x)`}
    ///
    /// @param x argument
    static double softplus(double x) {
        return x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x));
    }
}
