package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.FusedOp;
import dev.tenon.api.graph.FusedOp.Projections;
import java.util.List;
import java.util.Optional;

/// Projections of queries, keys and values in their general form.
final class UsualProjections {
    private UsualProjections() {}

    static Projections of(FusedOp.NormQkvRope f) {
        return new Projections(
                Optional.of(f.norm()),
                false,
                List.of(
                        part(f.q(), f.qNorm(), Optional.of(f.qRope())),
                        part(f.k(), f.kNorm(), Optional.of(f.kRope())),
                        part(f.v(), Optional.empty(), Optional.empty())));
    }

    static Projections of(FusedOp.Qkv f) {
        return new Projections(
                f.norm(),
                f.normRead(),
                List.of(
                        part(f.q(), f.qNorm(), f.qRope()),
                        part(f.k(), f.kNorm(), f.kRope()),
                        part(f.v(), Optional.empty(), Optional.empty())));
    }

    private static Projections.Part part(
            CoreOp.Linear linear, Optional<CoreOp.RmsNorm> norm, Optional<CoreOp.Rope> rope) {
        return new Projections.Part(linear, norm.map(n -> n), rope);
    }
}
