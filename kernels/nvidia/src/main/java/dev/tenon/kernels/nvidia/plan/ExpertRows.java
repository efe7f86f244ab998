package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Support;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.FusedExpertOp;
import dev.tenon.api.graph.RouterParams;
import dev.tenon.api.graph.Weight;
import dev.tenon.kernels.nvidia.launch.ExpertLaunches;
import java.util.List;
import java.util.Optional;

/// Ops of experts, planned by [ExpertOps].
final class ExpertRows {
    static final List<OpRow<?>> ROWS = List.of(
            new OpRow<>(
                    ExpertOp.Router.class,
                    ExpertRows::support,
                    (r, plan) ->
                            plan.ops.add(plan.expertOps.router(r, r, plan.pool.get(r.logits()), Optional.empty()))),
            OpRow.matrix(
                            ExpertOp.ExpertLinear.class,
                            "expert_linear",
                            ExpertOp.ExpertLinear::weight,
                            (l, plan) -> plan.ops.add(plan.expertOps.linear(l)))
                    .reads(new OpRow.Reading<>() {
                        @Override
                        public boolean normsWithRouter(ExpertOp.ExpertLinear l) {
                            return !l.ownInputs();
                        }

                        @Override
                        public List<Weight> experts(ExpertOp.ExpertLinear l) {
                            return List.of(l.weight());
                        }
                    }),
            OpRow.fast(ExpertOp.WeightedSum.class, (s, plan) -> plan.ops.add(plan.expertOps.weightedSum(s))),
            OpRow.fused(FusedExpertOp.NormRouter.class, _ -> true, (f, filter) -> filter.fits(f), (f, plan) -> {
                plan.fold((CoreOp.RmsNorm) f.norm());
                plan.ops.add(plan.expertOps.normRouter(f));
            }),
            OpRow.fused(
                            FusedExpertOp.ExpertGateUp.class,
                            _ -> true,
                            (f, filter) -> filter.fits(f),
                            (f, plan) -> plan.ops.add(plan.expertOps.gateUp(f)))
                    .fitted((f, filter) -> filter.fitted(f))
                    .reads(new OpRow.Reading<>() {
                        @Override
                        public boolean normsWithRouter(FusedExpertOp.ExpertGateUp f) {
                            return !f.up().ownInputs();
                        }

                        @Override
                        public List<Weight> experts(FusedExpertOp.ExpertGateUp f) {
                            return List.of(f.up().weight());
                        }
                    }),
            OpRow.fused(
                            FusedExpertOp.ExpertDown.class,
                            _ -> true,
                            (_, _) -> true,
                            (f, plan) -> plan.ops.add(plan.expertOps.down(f)))
                    .reads(new OpRow.Reading<>() {
                        @Override
                        public List<Weight> experts(FusedExpertOp.ExpertDown f) {
                            return List.of(f.down().weight());
                        }
                    }));

    private ExpertRows() {}

    private static Support support(ExpertOp.Router r, OpSupport judge) {
        if (r.params().gating() == RouterParams.Gating.SOFTPLUS_ROOT) {
            return OpSupport.notYet("op router by roots");
        }
        return r.logits().width() > ExpertLaunches.MOST_EXPERTS
                ? OpSupport.notYet("op router over more than " + ExpertLaunches.MOST_EXPERTS + " experts")
                : OpSupport.float32(r, judge);
    }
}
