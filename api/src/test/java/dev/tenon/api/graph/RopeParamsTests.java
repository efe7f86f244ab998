package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RopeParams.Yarn;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RopeParamsTests {
    private static RopeParams yarn(float factor, int original) {
        Yarn yarn = new Yarn(factor, original, 32, 1);
        return RopeParams.builder(64, Pairing.HALF_SPLIT, 150_000)
                .yarn(Optional.of(yarn))
                .build();
    }

    @Test
    void frequenciesFallFromOneToTheBase() {
        RopeParams params = RopeParams.builder(8, Pairing.HALF_SPLIT, 100)
                .ropeDim(4)
                .freqScale(0.5f)
                .build();
        assertEquals(0.5, params.frequency(0), 1e-12);
        assertEquals(0.05, params.frequency(1), 1e-12);
        assertEquals(1, params.attentionFactor());
    }

    /// With base 150000 and 64 elements, a pair turns 32 times in 4096 positions at 8.09, once at 17.40.
    @Test
    void yarnKeepsFastPairsDividesSlowOnesAndBlendsBetween() {
        RopeParams plain = RopeParams.builder(64, Pairing.HALF_SPLIT, 150_000).build();
        RopeParams scaled = yarn(32, 4096);
        assertEquals(plain.frequency(8), scaled.frequency(8), 1e-15);
        assertEquals(plain.frequency(18) / 32, scaled.frequency(18), 1e-15);
        assertEquals(plain.frequency(13) * (0.5 + 0.5 / 32), scaled.frequency(13), 1e-15);
        assertEquals(plain.frequency(31) / 32, scaled.frequency(31), 1e-15);
    }

    @Test
    void aContextTooShortForAnyTurnIsStillFinite() {
        for (int pair = 0; pair < 32; pair++) {
            double frequency = yarn(4, 1).frequency(pair);
            assertEquals(Math.pow(150_000, -pair / 32.0) / 4, frequency, 0.75);
        }
    }

    @Test
    void shapesThatMakeNoRotationAreRefused() {
        Optional<Weight> three = Optional.of(Weight.vector("rope_freqs.weight", 3));
        for (Runnable impossible : new Runnable[] {
            () -> RopeParams.builder(8, Pairing.HALF_SPLIT, 1).ropeDim(5).build(),
            () -> RopeParams.builder(8, Pairing.HALF_SPLIT, 1).ropeDim(10).build(),
            () -> RopeParams.builder(8, Pairing.HALF_SPLIT, 1)
                    .ropeDim(4)
                    .freqFactors(three)
                    .build(),
            () -> new Yarn(0, 4096, 32, 1),
            () -> new Yarn(4, 0, 32, 1),
            () -> new Yarn(4, 4096, 1, 32)
        }) {
            assertThrows(IllegalArgumentException.class, impossible::run);
        }
    }
}
