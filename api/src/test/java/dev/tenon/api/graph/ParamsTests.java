package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.RopeParams.Pairing;
import dev.tenon.api.graph.RouterParams.Gating;
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
                () -> RouterParams.builder(Gating.SOFTMAX, 0).build(),
                () -> RouterParams.builder(Gating.SOFTMAX, 1)
                        .groups(2)
                        .groupsUsed(3)
                        .build(),
                () -> RouterParams.builder(Gating.SOFTMAX, 1).scale(Float.NaN).build(),
                () -> RopeParams.builder(1, Pairing.INTERLEAVED, 1).build(),
                () -> RopeParams.builder(8, Pairing.INTERLEAVED, 1).ropeDim(10).build(),
                () -> new RopeParams.Yarn(4, 4096, 1, 32));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void numbersThatDoNotFitAreRefused(Executable build) {
        assertThrows(IllegalArgumentException.class, build);
    }

    @Test
    void aBuilderStartsWithAllValues() {
        AttentionParams attention = attention()
                .slidingWindow(5)
                .softCap(2)
                .causal(false)
                .sinks(vector(4))
                .build();
        assertEquals(attention, attention.toBuilder().build());
        assertEquals(attention.hashCode(), attention.toBuilder().build().hashCode());
        assertNotEquals(attention, attention.toBuilder().causal(true).build());
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
                .freqScale(0.25f)
                .freqFactors(vector(2))
                .yarn(Optional.of(new RopeParams.Yarn(4, 4096, 32, 1)))
                .attentionFactor(1.1f)
                .build();
        assertEquals(rope, rope.toBuilder().build());
        assertNotEquals(rope, rope.toBuilder().attentionFactor(1).build());
        assertTrue(rope.toString().startsWith("RopeParams["), rope.toString());
    }
}
