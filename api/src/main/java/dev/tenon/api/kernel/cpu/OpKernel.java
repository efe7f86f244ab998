package dev.tenon.api.kernel.cpu;

import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.quant.QuantFormat;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// A kernel for CPU devices that computes an op which a model bundle defines itself, a
/// [dev.tenon.api.graph.ReferenceOp]. Without one, backends call the op's `evaluate`, which is
/// slow.
///
/// Its results are those of `evaluate` up to rounding. Stateless and safe for any thread; what
/// belongs to one op of one plan is in its [Rows].
@ConsumerType
public interface OpKernel extends Kernel {
    /// {@return whether it computes an op; asked for ops of its kind only}
    ///
    /// @param op the op, with the widths of its inputs and outputs
    /// @param formats formats of its weights, in their order
    default boolean accepts(Op op, List<QuantFormat> formats) {
        return true;
    }

    /// Prepares an op of a plan, once, when a model is placed: what is derived from weights is made
    /// here.
    ///
    /// @param op an op that it accepts
    /// @param weights the op's weights, in their order; valid until the plan is closed
    /// @return what computes rows of the op
    Rows bind(Op op, List<OpWeight> weights);

    /// Computes rows of one op. All threads of a plan call it in parallel, each for other rows or
    /// another part of them; it keeps nothing between calls, and should allocate nothing.
    @ConsumerType
    interface Rows {
        /// {@return pieces that the work on a row is cut into, 1 or more: of a step of one row,
        ///     threads take one piece each}
        default int parts() {
            return 1;
        }

        /// {@return floats of memory that a call needs}
        default int scratchFloats() {
            return 0;
        }

        /// Computes a part of each of some rows. Row `r` of a value begins at `r * width` in its
        /// array.
        ///
        /// @param in rows of each input, in the op's order; not to be changed
        /// @param out receives rows of each output, in the op's order; only what belongs to the
        ///     rows and the part may be written
        /// @param firstRow first row
        /// @param rows number of rows, 1 or more
        /// @param part which part, 0 to `parts() - 1`
        /// @param scratch memory of the calling thread, [#scratchFloats] or more, of any content
        void run(HostFloats[] in, HostFloats[] out, int firstRow, int rows, int part, float[] scratch);
    }

    /// {@return [Kernel#ANY_FORMAT]: [#accepts] says which formats it reads}
    @Override
    default String format() {
        return ANY_FORMAT;
    }

    @Override
    default String deviceKind() {
        return "cpu";
    }
}
