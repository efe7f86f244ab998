package dev.tenon.backend.cpu.vector.kernel;

import dev.tenon.api.kernel.cpu.CompileThresholdScaling;
import dev.tenon.api.kernel.cpu.ForceInline;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/// The exponential function of [Exp] on vectors: the same operations in the same order, so the same bits.
@CompileThresholdScaling(0.03)
@ForceInline
public final class VectorExp {
    private static final FloatVector LOG2_E = all(Exp.LOG2_E);
    private static final FloatVector ROUND = all(Exp.ROUND);
    private static final FloatVector MINUS_LN2_HIGH = all(-Exp.LN2_HIGH);
    private static final FloatVector MINUS_LN2_LOW = all(-Exp.LN2_LOW);
    private static final FloatVector C6 = all(Exp.C6);
    private static final FloatVector C5 = all(Exp.C5);
    private static final FloatVector C4 = all(Exp.C4);
    private static final FloatVector C3 = all(Exp.C3);
    private static final FloatVector C2 = all(Exp.C2);
    private static final FloatVector ONE = all(1);

    private VectorExp() {}

    private static FloatVector all(float value) {
        return FloatVector.broadcast(Species.F, value);
    }

    /// {@return e to the power of each lane}
    ///
    /// @param x arguments
    public static FloatVector exp(FloatVector x) {
        return nonPositive(x).blend(Float.POSITIVE_INFINITY, x.compare(VectorOperators.GT, Exp.HIGH));
    }

    /// {@return e to the power of each lane, which is at most [Exp#HIGH] or NaN}
    ///
    /// @param x arguments
    public static FloatVector nonPositive(FloatVector x) {
        FloatVector shifted = x.fma(LOG2_E, ROUND);
        FloatVector n = shifted.sub(ROUND);
        FloatVector r = n.fma(MINUS_LN2_HIGH, x);
        r = n.fma(MINUS_LN2_LOW, r);
        FloatVector p = r.fma(C6, C5);
        p = p.fma(r, C4);
        p = p.fma(r, C3);
        p = p.fma(r, C2);
        p = p.fma(r, ONE);
        p = p.fma(r, ONE);
        FloatVector scaled = p.reinterpretAsInts()
                .add(shifted.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23))
                .reinterpretAsFloats();
        return scaled.blend(0f, x.compare(VectorOperators.LT, Exp.LOW));
    }
}
