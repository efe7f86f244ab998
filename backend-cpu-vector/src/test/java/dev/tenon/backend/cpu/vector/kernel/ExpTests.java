package dev.tenon.backend.cpu.vector.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

/// Runs at the width that `tenon.vector.bits` gives; the build runs it for every width.
class ExpTests {
    private static float[] vector(float x) {
        float[] lanes = new float[Species.LANES];
        VectorExp.exp(FloatVector.broadcast(Species.F, x)).intoArray(lanes, 0);
        return lanes;
    }

    @Test
    void theRelativeErrorIsBelowAMillionthInTheWholeRange() {
        double worst = 0;
        for (float x = Exp.LOW; x <= Exp.HIGH; x += 0.00071f) {
            double expected = Math.exp(x);
            float got = vector(x)[Species.LANES - 1];
            worst = Math.max(worst, Math.abs(got - expected) / expected);
            assertEquals(Exp.exp(x), got, "plain Java form at " + x);
        }
        assertTrue(worst < 3e-7 && worst > 0, "worst relative error " + worst);
    }

    @Test
    void smallArgumentsKeepTheirPrecision() {
        for (float x = -1e-3f; x < 1e-3f; x += 1e-6f) {
            assertEquals(Math.exp(x), vector(x)[0], 1.3e-7, "at " + x);
        }
        assertEquals(1f, vector(0f)[0]);
        assertEquals(1f, vector(-0f)[0]);
    }

    @Test
    void whatIsOutOfRangeIsZeroInfiniteOrNotANumber() {
        for (float x : new float[] {-87, -1000, -Float.MAX_VALUE, Float.NEGATIVE_INFINITY}) {
            assertEquals(0f, vector(x)[0], "at " + x);
            assertEquals(
                    0f,
                    VectorExp.nonPositive(FloatVector.broadcast(Species.F, x)).lane(0),
                    "at " + x);
            assertEquals(0f, Exp.exp(x));
        }
        for (float x : new float[] {88.8f, 1000, Float.MAX_VALUE, Float.POSITIVE_INFINITY}) {
            assertEquals(Float.POSITIVE_INFINITY, vector(x)[0], "at " + x);
            assertEquals(Float.POSITIVE_INFINITY, Exp.exp(x));
        }
        assertTrue(Float.isNaN(vector(Float.NaN)[0]));
        assertTrue(Float.isNaN(Exp.exp(Float.NaN)));
    }
}
