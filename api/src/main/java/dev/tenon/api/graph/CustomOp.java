package dev.tenon.api.graph;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// An op that is defined by other ops: a fused op, or one that a model bundle brings with it.
///
/// A backend may have a kernel of its own for the kind; otherwise it runs [#expand()], which gives the same
/// result up to rounding. A [Graph] refuses an op whose expansion does not define it.
@ConsumerType
public interface CustomOp extends Op {
    /// {@return ops that define the same outputs from the same inputs, in an order that can run; inner
    ///     values have ids of their own, and custom ops among them expand further, but never into themselves}
    List<Op> expand();
}
