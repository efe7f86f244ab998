package dev.tenon.backend.cpu.vector.selection;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.backend.cpu.vector.op.EvaluatedRows;

/// Judges which ops run here, and how.
///
/// @param weights formats of the ops' weights
/// @param kernels selects kernels
public record OpSupport(Weights weights, KernelSet kernels) {
    /// {@return how well an op runs, and why}
    ///
    /// @param op the op
    public Support of(Op op) {
        return switch (op) {
            case CoreOp.Linear linear -> matrix(linear.weight());
            case ExpertOp.ExpertLinear linear -> matrix(linear.weight());
            case PartOp.HeadLinear heads -> {
                String weight = heads.weight().name();
                KernelSet.Linear kernel =
                        kernels.linear(weights.format(weight), heads.weight().cols());
                yield kernel.packed() != null
                        ? new Support(Support.Level.FAST, "kernel " + kernel.name() + " for " + weight)
                        : new Support(Support.Level.GENERIC, "plain Java for head_linear with " + weight);
            }
            // Not all core ops: a newer api may have one that no kernel here computes.
            case CoreOp.Embedding _,
                    CoreOp.RmsNorm _,
                    CoreOp.LayerNorm _,
                    CoreOp.Rope _,
                    CoreOp.Attention _,
                    CoreOp.Add _,
                    CoreOp.Multiply _,
                    CoreOp.Activate _,
                    CoreOp.Scale _,
                    CoreOp.SoftCap _,
                    CoreOp.SwigluOai _,
                    ExpertOp.Router _,
                    ExpertOp.WeightedSum _,
                    CoreOp.SelectRows _,
                    LowRankAdd _,
                    PositionScale _,
                    PartOp.Slice _,
                    PartOp.GroupedRmsNorm _,
                    PartOp.GroupedLayerNorm _,
                    PartOp.PlainRmsNorm _,
                    PartOp.Join _,
                    StateOp.ShortConvolution _,
                    StateOp.SelectiveScan _,
                    StateOp.GatedDeltaRule _ -> new Support(Support.Level.FAST, "float32 kernel " + op.kind());
            case CustomOp custom -> GraphSupport.of(custom, isFused(custom), this::of);
            case ReferenceOp own -> own(own);
            case Op plain when isPlain(plain) -> new Support(Support.Level.GENERIC, "plain Java for " + plain.kind());
            default -> GraphSupport.unknown(op);
        };
    }

    private Support matrix(Weight weight) {
        KernelSet.Linear kernel = kernels.linear(weights.format(weight.name()), weight.cols());
        return new Support(kernel.level(), "kernel " + kernel.name() + " for " + weight.name());
    }

    private Support own(ReferenceOp op) {
        OpKernel kernel = kernels.own(op, weights);
        return kernel != null
                ? new Support(Support.Level.FAST, "kernel " + kernel.name() + " for op " + op.kind())
                : new Support(
                        Support.Level.GENERIC,
                        "no kernel is offered for op " + op.kind() + " ("
                                + op.getClass().getName() + "); it computes itself, slowly: " + EvaluatedRows.NAME);
    }

    /// {@return whether the backend has a kernel for the whole op}
    ///
    /// @param op the op
    public static boolean isFused(Op op) {
        return switch (op) {
            case FusedOp.NormQkvRope _,
                    FusedOp.NormGateUp _,
                    FusedOp.LinearAdd _,
                    FusedOp.Qkv _,
                    FusedOp.ScaledQkv _,
                    FusedOp.Projections _,
                    FusedOp.GateUp _,
                    FusedOp.LinearThen _,
                    FusedExpertOp.NormRouter _,
                    FusedExpertOp.ExpertGateUp _,
                    FusedExpertOp.ExpertDown _ -> true;
            default -> false;
        };
    }

    /// {@return whether an op runs in plain Java: those of encoders}
    ///
    /// @param op any op
    private static boolean isPlain(Op op) {
        return switch (op) {
            case CoreOp.PositionEmbedding _, CoreOp.Repeat _, CoreOp.Pool _ -> true;
            default -> false;
        };
    }
}
