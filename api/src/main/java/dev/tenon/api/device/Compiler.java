package dev.tenon.api.device;

import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import java.util.Collection;
import org.osgi.annotation.versioning.ConsumerType;

/// Makes plans of graphs. Safe for any thread.
@ConsumerType
public interface Compiler {
    /// Tells whether an op can run, before anything is compiled.
    ///
    /// @param op an op of a graph, core or custom
    /// @param weights where to look up the formats of its weights
    /// @param kernels what other bundles offer
    /// @return how well, and why
    Support supports(Op op, Weights weights, Collection<KernelProvider> kernels);

    /// {@return whether plans keep layers with a window in pages of their own where options ask for it
    /// ([PlanOptions#windowTokens()]); if not, no options do. Who passes plans of another compiler on passes
    /// [Plan#windowPages()] on too, or leaves this}
    default boolean keepsWindows() {
        return false;
    }

    /// {@return whether plans give the logits of a sequence with the same bits alone, beside any others, and in steps
    /// of
    /// any size, where options ask for it ([PlanOptions#batchInvariant()]); if not, no options do}
    default boolean batchInvariant() {
        return false;
    }

    /// Compiles a graph and binds its weights. The caller closes the plan, before the device and the
    /// weights.
    ///
    /// @param request graph, weights and limits
    /// @return the plan
    /// @throws dev.tenon.api.error.UnsupportedModelException (`BACKEND-002`) listing all ops that are not
    ///     supported
    /// @throws dev.tenon.api.error.OutOfResourcesException (`LIMIT-003`) if memory does not
    ///     suffice; everything taken so far has been released
    Plan compile(CompileRequest request);
}
