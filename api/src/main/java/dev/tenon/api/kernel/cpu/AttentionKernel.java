package dev.tenon.api.kernel.cpu;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.kernel.Kernel;
import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// A kernel for `attention` on CPU devices: query rows attend to cached positions, a page at a time.
///
/// A page holds [#TOKENS] positions of one key head. Keys lie transposed, `[keyLength, TOKENS]`; values lie
/// `[TOKENS, valueLength]`. F32 and F16 are just that. Q8_0 has int8 levels like that, and behind them
/// float16 scales of 32 elements of a position each: of keys `[keyLength / 32, TOKENS]`, of values `[TOKENS,
/// valueLength / 32]`.
///
/// The softmax is computed online; a row has a running maximum, a sum of weights and a weighted sum of values,
/// which the caller owns, clears and merges. So that a result depends neither on the kernel nor on the other
/// rows, the order of additions is fixed. All numbers are float32, `fma` rounds once:
///
/// ```
/// score[p]  = fma over ascending i of q[i] * key[i][p], from 0            for the positions p that the row sees
/// m         = the greatest of max and all score[p]
/// weight[p] = e^(score[p] - m), 0 for the other positions
/// keep      = e^(max - m)
/// sum       = fma(sum, keep, tree(weight[j] + weight[j + 32], 0 <= j < 32))  tree: halves, quarters, ...
/// acc[i]    = fma over ascending p of weight[p] * value[p][i], from acc[i] * keep
/// max       = m
/// ```
///
/// `e^x` is 0 below -86.5, else `2^n * poly(r)` with `n = fma(x, 1.44269504, 1.5 * 2^23) - 1.5 * 2^23`, `r =
/// fma(n, 2.12194440e-4, fma(n, -0.693359375, x))` and the Taylor polynomial of degree 6 by Horner's rule.
///
/// Stateless and safe for any thread.
@ConsumerType
public interface AttentionKernel extends Kernel {
    /// Positions in a page.
    int TOKENS = 64;

    /// Numbers that describe a run of rows.
    int RUN = 4;

    /// {@return whether pages of some types and lengths can be read}
    ///
    /// @param keyType element type of keys
    /// @param valueType element type of values
    /// @param keyLength elements of a key
    /// @param valueLength elements of a value
    boolean accepts(KvType keyType, KvType valueType, int keyLength, int valueLength);

    /// {@return bytes of scratch memory that a call of [#attend] needs}
    ///
    /// @param keyLength elements of a key
    /// @param valueLength elements of a value; the kernel accepts them
    long scratchBytes(int keyLength, int valueLength);

    /// Lets rows attend to a page. Positions that no row sees are not read, or count for nothing whatever they
    /// hold.
    ///
    /// @param page memory of the page, off-heap; borrowed
    /// @param keysAt the byte in it where the keys of a head begin
    /// @param valuesAt the byte where its values begin
    /// @param keyLength elements of a key
    /// @param valueLength elements of a value
    /// @param rows the rows; borrowed
    /// @param scratch memory of the calling thread, off-heap, aligned to 64 bytes
    /// @throws dev.tenon.api.error.BackendException if an argument is outside of these limits
    void attend(
            MemorySegment page,
            long keysAt,
            long valuesAt,
            int keyLength,
            int valueLength,
            AttentionRows rows,
            MemorySegment scratch);

    /// {@return the element type of the pages that it reads}
    @Override
    String format();

    @Override
    default String deviceKind() {
        return "cpu";
    }

    @Override
    default String op() {
        return "attention";
    }
}
