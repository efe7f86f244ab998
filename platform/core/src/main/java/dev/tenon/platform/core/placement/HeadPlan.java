package dev.tenon.platform.core.placement;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Support;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import java.util.List;
import java.util.Optional;

/// The head for further tokens of a model, which `speculate = head` asks for: a plan of its own beside the model's,
/// on the same device, with a KV cache of as many pages and some more.
public final class HeadPlan {
    /// Most tokens that a head proposes. The rows of proposals may lie in the pages that only it has.
    public static final int MOST_TOKENS = 8;

    private static final String OTHERS = ". Set speculate to ngram, draft or off";

    private HeadPlan() {}

    /// Finds out whether a model has a head.
    ///
    /// @param model its graph
    /// @param head what its architecture says
    /// @param file what messages call the file
    /// @throws TenonException (`CFG-001`) if it has none
    static Graph required(Graph model, Optional<Graph> head, String file) {
        if (head.isEmpty() || !model.outputs().containsKey(Graph.HIDDEN_ROWS)) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "speculate is head, and " + file + " has no head for further tokens that the architecture "
                            + model.name() + " knows (nextn_predict_layers)" + OTHERS);
        }
        return head.get();
    }

    /// Finds out whether the backend can run the head, if one is asked for, before it gets the model.
    ///
    /// @param decision says what and where
    /// @throws TenonException (`BACKEND-002`) if not
    static void check(Decision decision) {
        for (Op op : decision.head().map(Graph::ops).orElse(List.of())) {
            Support support = compiler(decision).supports(op, decision.headWeights(), decision.kernels());
            if (support.level() == Support.Level.NONE) {
                throw unsupported(decision, support.reason());
            }
        }
    }

    private static Compiler compiler(Decision decision) {
        return decision.selection().device().compiler();
    }

    /// Compiles a head.
    ///
    /// @param decision says what and where
    /// @param options how the model was compiled
    /// @param pages of the model
    /// @return the plan, owned by the caller
    /// @throws TenonException (`BACKEND-002`) if the backend gives it pages that do not fit
    static Plan compile(Decision decision, PlanOptions options, KvPages pages) {
        Graph graph = decision.head().orElseThrow();
        int each = pages.tokensPerPage();
        int all = pages.pageCount() + Math.ceilDiv(MOST_TOKENS, each);
        Plan plan = compiler(decision)
                .compile(CompileRequest.builder(
                                graph,
                                decision.headWeights(),
                                options.toBuilder(Math.multiplyExact(all, each)).build())
                        .kernels(decision.kernels())
                        .build());
        if (plan.kvPages().tokensPerPage() != each || plan.kvPages().pageCount() < all) {
            plan.close();
            throw unsupported(decision, "it has other pages than the model");
        }
        return plan;
    }

    private static TenonException unsupported(Decision decision, String why) {
        return new TenonException(
                ErrorCode.BACKEND_UNSUPPORTED,
                "speculate is head, and backend "
                        + decision.selection().backend().id() + " cannot run the head of "
                        + decision.file().path().getFileName() + ": " + why + OTHERS
                        + ", or choose another backend");
    }
}
