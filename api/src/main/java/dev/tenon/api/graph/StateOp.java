package dev.tenon.api.graph;

import java.util.List;
import java.util.Optional;

/// Ops with a state: what they compute for a token depends on what is left of all tokens before it in its
/// sequence, in a memory whose size does not grow with them.
///
/// Each op has a state of its own for each sequence: float32 numbers, zero before position 0. The rows of a
/// sequence run in the order of their positions, none left out, whatever steps they come in; all states of a
/// sequence are its slot of [dev.tenon.api.device.StateSlots]. A state cannot be cut back to an earlier
/// position.
///
/// Further ones are records of [RecurrentOp]; [Graph#opsWithState()] has both.
public sealed interface StateOp extends Op {
    /// {@return the value it defines}
    Value out();

    /// {@return elements of the state of a sequence}
    long stateFloats();

    @Override
    default List<Value> outputs() {
        return List.of(out());
    }

    /// Causal convolution of each channel by itself, over the last tokens: `out[t, i] = sum_j weight[i, j] *
    /// x[t - taps + 1 + j, i] (+ bias[i])` with `j` from 0 to `taps - 1`, where `x` is 0 before the sequence
    /// begins. The state is the last `taps - 1` rows of `x`.
    ///
    /// @param x `[T, width]`
    /// @param weight `[width, taps]`
    /// @param bias `[width]` or empty
    /// @param out `[T, width]`
    record ShortConvolution(Value x, Weight weight, Optional<Weight> bias, Value out) implements StateOp {
        /// Checks the shapes.
        public ShortConvolution {
            Shapes.convolution("short_convolution", x, weight, bias, out);
        }

        /// {@return how many tokens a result sees}
        public int taps() {
            return weight.cols();
        }

        @Override
        public long stateFloats() {
            return (taps() - 1L) * x.width();
        }

        @Override
        public String kind() {
            return "short_convolution";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Weight> weights() {
            return bias.isPresent() ? List.of(weight, bias.get()) : List.of(weight);
        }
    }

    /// The selective scan of Mamba-2 (Dao and Gu 2024). A head `h` of `P` elements has a state `Z_h [P, S]`,
    /// and reads group `h / (heads / groups)` of `B` and `C`. For each token, with `dt = softplus(step[h] +
    /// stepBias[h])`:
    ///
    /// ```
    /// Z_h = exp(dt * a[h]) * Z_h + (dt * x_h) B^T
    /// out_h = Z_h C + d[h] * x_h
    /// ```
    ///
    /// @param xbc `[T, heads * P + 2 * groups * S]`: `x`, then `B`, then `C`
    /// @param step `[T, heads]`, what the step sizes are made of
    /// @param a `[heads]`, below 0
    /// @param d `[heads]`
    /// @param stepBias `[heads]`
    /// @param groups how many `B` and `C` a token has
    /// @param out `[T, heads * P]`
    record SelectiveScan(Value xbc, Value step, Weight a, Weight d, Weight stepBias, int groups, Value out)
            implements StateOp {
        /// Checks the shapes.
        public SelectiveScan {
            int heads = step.width();
            int shared = xbc.width() - out.width();
            boolean fits = groups > 0
                    && heads % groups == 0
                    && out.width() % heads == 0
                    && shared > 0
                    && shared % (2 * groups) == 0;
            Shapes.check(
                    fits,
                    "selective_scan",
                    "has " + heads + " heads and " + groups + " groups, which do not fit its input " + xbc,
                    out);
            Shapes.elements("selective_scan", a, heads, out);
            Shapes.elements("selective_scan", d, heads, out);
            Shapes.elements("selective_scan", stepBias, heads, out);
        }

        /// {@return number of heads}
        public int heads() {
            return step.width();
        }

        /// {@return elements of a head, `P`}
        public int headLength() {
            return out.width() / heads();
        }

        /// {@return elements of the state for each element of a head, `S`}
        public int stateLength() {
            return (xbc.width() - out.width()) / (2 * groups);
        }

        @Override
        public long stateFloats() {
            return (long) out.width() * stateLength();
        }

        @Override
        public String kind() {
            return "selective_scan";
        }

        @Override
        public List<Value> inputs() {
            return List.of(xbc, step);
        }

        @Override
        public List<Weight> weights() {
            return List.of(a, d, stepBias);
        }
    }

    /// Which key head a value head uses, where there are fewer of them.
    enum KeyHeads {
        /// Value head `h` uses key head `h / (valueHeads / keyHeads)`.
        BLOCK,
        /// Value head `h` uses key head `h mod keyHeads`.
        CYCLIC
    }

    /// The gated delta rule (Yang et al. 2024). A value head `h` has a state `M_h [keyLength, valueLength]`,
    /// zero at first. For each token, with `q` and `k` of its key head, each divided by `max(|q|, eps)` and
    /// `max(|k|, eps)`, `q` also by `sqrt(keyLength)`:
    ///
    /// ```
    /// M_h = diag(exp(a[h] * softplus(decay[h] + decayBias[h]))) M_h
    /// M_h = M_h + k (sigmoid(beta[h]) * (v_h - M_h^T k))^T
    /// out_h = M_h^T q
    /// ```
    ///
    /// where the decay is one number for a head, or one for each element of its key (Kimi Team 2025).
    ///
    /// @param qkv `[T, 2 * keyHeads * keyLength + valueHeads * valueLength]`: the query heads, the key heads,
    ///     the value heads
    /// @param decay `[T, valueHeads]` or `[T, valueHeads * keyLength]`, what the decay of the state is made of
    /// @param beta `[T, valueHeads]`, what the strength of the correction is made of
    /// @param a `[valueHeads]`, below 0
    /// @param decayBias as wide as `decay`
    /// @param keyHeads number of query heads and of key heads
    /// @param sharing which of them a value head uses
    /// @param eps least length that a query or key is divided by
    /// @param out `[T, valueHeads * valueLength]`
    record GatedDeltaRule(
            Value qkv,
            Value decay,
            Value beta,
            Weight a,
            Weight decayBias,
            int keyHeads,
            KeyHeads sharing,
            float eps,
            Value out)
            implements StateOp {
        /// Checks the shapes.
        public GatedDeltaRule {
            int heads = beta.width();
            int keys = qkv.width() - out.width();
            boolean fits = keyHeads > 0
                    && heads % keyHeads == 0
                    && out.width() % heads == 0
                    && keys > 0
                    && keys % (2 * keyHeads) == 0
                    && (decay.width() == heads || decay.width() == (long) heads * (keys / (2 * keyHeads)));
            Shapes.check(
                    fits,
                    "gated_delta_rule",
                    "has " + keyHeads + " key heads and " + heads + " value heads, which do not fit " + qkv + ", "
                            + decay + ", " + beta,
                    out);
            Shapes.eps("gated_delta_rule", eps, out);
            Shapes.elements("gated_delta_rule", a, heads, out);
            Shapes.elements("gated_delta_rule", decayBias, decay.width(), out);
        }

        /// {@return number of value heads}
        public int valueHeads() {
            return beta.width();
        }

        /// {@return numbers of a head's decay: 1, or one for each element of a key}
        public int decays() {
            return decay.width() / valueHeads();
        }

        /// {@return elements of a query or key head}
        public int keyLength() {
            return (qkv.width() - out.width()) / (2 * keyHeads);
        }

        /// {@return elements of a value head}
        public int valueLength() {
            return out.width() / valueHeads();
        }

        /// {@return the key head of a value head}
        ///
        /// @param valueHead which value head, 0-based
        public int keyHead(int valueHead) {
            return sharing == KeyHeads.CYCLIC ? valueHead % keyHeads : valueHead / (valueHeads() / keyHeads);
        }

        @Override
        public long stateFloats() {
            return (long) out.width() * keyLength();
        }

        @Override
        public String kind() {
            return "gated_delta_rule";
        }

        @Override
        public List<Value> inputs() {
            return List.of(qkv, decay, beta);
        }

        @Override
        public List<Weight> weights() {
            return List.of(a, decayBias);
        }
    }
}
