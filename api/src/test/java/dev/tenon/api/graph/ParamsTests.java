package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ParamsTests {
    private static Optional<Weight> vector(int length) {
        return Optional.of(Weight.vector("w", length));
    }

    private static AttentionParams.Builder attention() {
        return AttentionParams.builder(4, 2, 0.5f);
    }

    static Stream<Executable> wrong() {
        return Stream.of(
                () -> AttentionParams.builder(4, 0, 1).build(),
                () -> AttentionParams.builder(4, 3, 1).build(),
                () -> attention().slidingWindow(-1).build(),
                () -> attention().softCap(-1).build(),
                () -> attention().softCap(Float.NaN).build(),
                () -> attention().sinks(vector(3)).build(),
                () -> attention().sinks(Optional.of(new Weight("w", 4, 2))).build(),
                () -> attention()
                        .scoreBias(Optional.of(ScoreBias.alibi(List.of(1f, 2f))))
                        .build(),
                () -> ScoreBias.alibi(List.of()),
                () -> ScoreBias.relative(new Weight("w", 4, 6), 128),
                () -> ScoreBias.relative(new Weight("w", 4, 32), 16),
                () -> RouterParams.builder(Gating.SOFTMAX, 0).build(),
                () -> RouterParams.builder(Gating.SOFTMAX, 1)
                        .groups(2)
                        .groupsUsed(3)
                        .build(),
                () -> RouterParams.builder(Gating.SOFTMAX, 1).scale(Float.NaN).build(),
                () -> RopeParams.builder(1, Pairing.INTERLEAVED, 1).build(),
                () -> RopeParams.builder(8, Pairing.INTERLEAVED, 1).ropeDim(10).build(),
                () -> RopeParams.builder(8, Pairing.INTERLEAVED, 1).run(0).build(),
                () -> RopeParams.builder(2, Pairing.INTERLEAVED, 1)
                        .run(2)
                        .turns(List.of(new RopeParams.Turn(0, 0)))
                        .build(),
                () -> new RopeParams.Yarn(4, 4096, 1, 32));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void numbersThatDoNotFitAreRefused(Executable build) {
        assertThrows(IllegalArgumentException.class, build);
    }

    /// The lists of the paper, for 8 and for 12 heads.
    @Test
    void slopesFallByConstantFactors() {
        assertEquals(
                List.of(0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f, 0.015625f, 0.0078125f, 0.00390625f),
                ScoreBias.slopes(8, 8));
        List<Float> twelve = ScoreBias.slopes(12, 8);
        assertEquals(ScoreBias.slopes(8, 8), twelve.subList(0, 8));
        float[] further = {0.70710678f, 0.35355339f, 0.17677669f, 0.08838835f};
        for (int i = 0; i < further.length; i++) {
            assertEquals(further[i], twelve.get(8 + i), 1e-7f);
        }
    }

    /// Borders of T5's 32 buckets for distances up to 128, in an encoder (16 on either side) and in a decoder.
    @Test
    void bucketsGrowWithTheDistance() {
        ScoreBias bias = ScoreBias.relative(new Weight("attn_rel_b.weight", 4, 32), 128);
        int[][] encoder = {{0, 0}, {-7, 7}, {-8, 8}, {-11, 8}, {-12, 9}, {-16, 10}, {-32, 12}, {-64, 14}, {-127, 15}};
        for (int[] each : encoder) {
            assertEquals(each[1], bias.bucket(each[0], false), () -> "distance " + each[0]);
        }
        assertEquals(17, bias.bucket(1, false));
        assertEquals(31, bias.bucket(100_000, false));
        int[][] decoder = {{5, 0}, {0, 0}, {-15, 15}, {-16, 16}, {-32, 21}, {-64, 26}, {-128, 31}, {-9999, 31}};
        for (int[] each : decoder) {
            assertEquals(each[1], bias.bucket(each[0], true), () -> "distance " + each[0]);
        }
    }

    @Test
    void aBuilderStartsWithAllValues() {
        AttentionParams attention = attention()
                .slidingWindow(5)
                .softCap(2)
                .causal(false)
                .sinks(vector(4))
                .scoreBias(Optional.of(ScoreBias.alibi(ScoreBias.slopes(4, 8))))
                .build();
        assertEquals(attention, attention.toBuilder().build());
        assertEquals(attention.hashCode(), attention.toBuilder().build().hashCode());
        assertNotEquals(attention, attention.toBuilder().causal(true).build());
        assertNotEquals(
                attention, attention.toBuilder().scoreBias(Optional.empty()).build());
        RouterParams router = RouterParams.builder(Gating.SIGMOID, 2)
                .normalise(true)
                .scale(2.5f)
                .bias(vector(8))
                .groups(4)
                .groupsUsed(2)
                .build();
        assertEquals(router, router.toBuilder().build());
        assertNotEquals(router, router.toBuilder().scale(1).build());
        RopeParams rope = RopeParams.builder(8, Pairing.HALF_SPLIT, 10_000)
                .ropeDim(4)
                .run(3)
                .freqScale(0.25f)
                .freqFactors(vector(2))
                .yarn(Optional.of(new RopeParams.Yarn(4, 4096, 32, 1)))
                .attentionFactor(1.1f)
                .build();
        assertEquals(rope, rope.toBuilder().build());
        assertNotEquals(rope, rope.toBuilder().attentionFactor(1).build());
        assertNotEquals(rope, rope.toBuilder().run(1).build());
        assertTrue(rope.toString().startsWith("RopeParams["), rope.toString());
    }
}
