package dev.tenon.platform.core.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.http.EndpointProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.osgi.service.component.propertytypes.ServiceRanking;

/// Ids that several bundles want.
class ServiceRegistryTests {
    private static final long FIRST = 1;
    private static final long SECOND = 2;
    private static final long THIRD = 3;

    private final ServiceRegistry registry = new ServiceRegistry();
    private final Layout first = new Layout("X5", 200, 32, 20);
    private final Layout second = new Layout("X5", 200, 32, 20);

    private static class Layout implements QuantFormat {
        private final String id;
        private final int number;
        private final int size;
        private final int bytes;

        Layout(String id, int number, int size, int bytes) {
            this.id = id;
            this.number = number;
            this.size = size;
            this.bytes = bytes;
        }

        @Override
        public String id() {
            return id;
        }

        @Override
        public int ggmlType() {
            return number;
        }

        @Override
        public int blockSize() {
            return size;
        }

        @Override
        public int blockBytes() {
            return bytes;
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            throw new UnsupportedOperationException("not needed here");
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.empty();
        }
    }

    @Test
    void theFirstOfTwoBundlesWithOneIdIsOffered() {
        registry.add(first, FIRST);
        registry.add(second, SECOND);
        assertSame(first, registry.format(200).orElseThrow());
        assertEquals(List.of(first), registry.formats());
        assertEquals(
                List.of(new ServiceRegistry.Refused(SECOND, "format X5", FIRST, "format.X5", false)),
                registry.refused());
        registry.remove(first);
        assertSame(second, registry.format(200).orElseThrow());
        assertEquals(List.of(), registry.refused());
    }

    @Test
    void aTypeNumberIsAnIdToo() {
        registry.add(first, FIRST);
        registry.add(new Layout("Y5", 200, 32, 24), SECOND);
        assertSame(first, registry.format(200).orElseThrow());
        assertEquals("tensor type number 200", registry.refused().getFirst().what());
        TensorTypes.of(registry.formats()); // opens files
    }

    @Test
    void aFormatThatContradictsGgmlHindersNoOther() {
        registry.add(new Layout("Q4_K", 12, 256, 100), FIRST);
        TensorTypes.of(registry.formats());
        assertTrue(registry.refused().getFirst().what().contains("number 12"), registry.refused()::toString);
        Layout right = new Layout("Q4_K", 12, 256, 144);
        registry.add(right, SECOND);
        assertSame(right, registry.format(12).orElseThrow());
    }

    @Test
    void aNewVersionTakesThePlaceOfTheOldOneBeforeWhoeverWaits() {
        registry.add(first, FIRST);
        registry.add(new Layout("X5", 200, 32, 20), SECOND);
        registry.hold(THIRD);
        registry.add(second, THIRD);
        assertEquals(List.of(), registry.refused(Set.of(THIRD), Set.of(FIRST)));
        registry.swap(Set.of(FIRST), Set.of(THIRD));
        assertEquals(List.of(second), registry.formats());
        registry.swap(Set.of(THIRD), Set.of(FIRST));
        assertEquals(List.of(first), registry.formats());
    }

    @Test
    void whoeverWaitsIsToldThatANewVersionOfItWouldWaitToo() {
        registry.add(first, FIRST);
        registry.add(new Layout("X5", 200, 32, 20), SECOND);
        registry.hold(THIRD);
        registry.add(second, THIRD);
        assertEquals(1, registry.refused(Set.of(THIRD), Set.of(SECOND)).size());
        assertEquals(1, registry.refused(Set.of(THIRD), Set.of()).size());
    }

    @Test
    void aSettingNamesTheOneToOffer() {
        QuantFormat other = new Layout("X5", 200, 32, 20) {};
        registry.add(first, FIRST);
        registry.add(other, SECOND);
        registry.prefer(Map.of("format.X5", other.getClass().getName()));
        assertEquals(List.of(other), registry.formats());
        assertEquals(FIRST, registry.refused().getFirst().owner());
        registry.prefer(Map.of());
        assertEquals(List.of(first), registry.formats());
    }

    private static class Maker implements SamplerProvider {
        @Override
        public Sampler create(SamplingParams params, int vocabularySize) {
            throw new UnsupportedOperationException("not needed here");
        }
    }

    @ServiceRanking(7)
    private static final class RankedMaker extends Maker {}

    private final Maker ours = new Maker();
    private final Maker theirs = new Maker();

    @Test
    void theSamplerOfTheHighestRankIsOfferedWhereverItComes() {
        registry.add(ours, FIRST, "platform.core 1.0.0", 0);
        registry.add(theirs, SECOND, "org.example 1.0.0", 5);
        assertSame(theirs, registry.samplerProvider().orElseThrow());
        assertEquals(
                List.of(new ServiceRegistry.Refused(FIRST, "the sampler", SECOND, "sampler", true)),
                registry.refused());
        Maker third = new Maker();
        registry.add(third, THIRD, "org.example.third 1.0.0", 5);
        assertSame(theirs, registry.samplerProvider().orElseThrow(), "of equal ranks the first");
        assertEquals(List.of(5, 5, 0), ranks());
        registry.remove(theirs);
        assertSame(third, registry.samplerProvider().orElseThrow());
        registry.remove(third);
        assertSame(ours, registry.samplerProvider().orElseThrow());
        assertEquals(List.of(), registry.refused());
    }

    private List<Integer> ranks() {
        return registry.ranked(SamplerProvider.class).stream()
                .map(ServiceRegistry.Ranked::rank)
                .sorted(Comparator.reverseOrder())
                .toList();
    }

    @Test
    void aSamplerThatWouldNeverBeUsedIsRefusedWhenItComes() {
        registry.add(ours, FIRST, "platform.core 1.0.0", 0);
        registry.hold(SECOND);
        registry.add(theirs, SECOND, "org.example 1.0.0", 0);
        assertEquals(
                List.of(new ServiceRegistry.Refused(SECOND, "the sampler", FIRST, "sampler", false)),
                registry.refused(Set.of(SECOND), Set.of()));
    }

    @Test
    void aSettingNamesTheSamplerWhateverTheRanks() {
        registry.prefer(Map.of("sampler", "org.example"));
        registry.add(ours, FIRST, "platform.core 1.0.0", 9);
        registry.add(theirs, SECOND, "org.example 1.0.0", 0);
        assertSame(theirs, registry.samplerProvider().orElseThrow());
        registry.prefer(Map.of());
        assertSame(ours, registry.samplerProvider().orElseThrow());
    }

    @Test
    void withoutAFrameworkTheAnnotationGivesTheRank() {
        Maker ranked = new RankedMaker();
        registry.add(ours);
        registry.add(ranked);
        assertSame(ranked, registry.samplerProvider().orElseThrow());
        registry.add(theirs, FIRST);
        assertSame(ranked, registry.samplerProvider().orElseThrow());
        assertEquals(FIRST, registry.refused().getFirst().owner());
    }

    /// Chosen by its name.
    private static final class Named extends Maker {
        @Override
        public String id() {
            return "ours";
        }
    }

    private Optional<Object> named(String id) {
        return registry.service(SamplerProvider.class, id).map(Object.class::cast);
    }

    @Test
    void aSamplerWithANameIsUsedWhereItIsNamedAlone() {
        Maker low = new Named();
        Maker high = new Named();
        registry.add(low, FIRST, "low 1", 9);
        assertEquals(Optional.empty(), registry.samplerProvider());
        registry.add(ours, THIRD, "platform.core 1.0.0", 0);
        assertSame(ours, registry.samplerProvider().orElseThrow());
        assertEquals(List.of(0), ranks());
        assertEquals(List.of("ours"), registry.ids(SamplerProvider.class));
        assertEquals(Optional.of(low), named("ours"));
        assertEquals(Optional.empty(), named(""));
        registry.add(high, SECOND, "high 1", 10);
        assertEquals(Optional.of(high), named("ours"));
        assertEquals(
                List.of(new ServiceRegistry.Refused(FIRST, "sampler ours", SECOND, "sampler.ours", true)),
                registry.refused());
        registry.prefer(Map.of("sampler.ours", "low"));
        assertEquals(Optional.of(low), named("ours"));
        registry.remove(low);
        assertEquals(Optional.of(high), named("ours"));
        registry.remove(high);
        assertEquals(Optional.empty(), named("ours"));
    }

    @Test
    void withoutAFrameworkTheRankOfANamedSamplerCountsToo() {
        @ServiceRanking(7)
        class Ranked extends Maker {
            @Override
            public String id() {
                return "ours";
            }
        }
        Maker ranked = new Ranked();
        registry.add(new Named());
        registry.add(ranked);
        assertEquals(Optional.of(ranked), named("ours"));
    }

    private List<Object> endpoints() {
        return registry.endpoints().stream()
                .map(each -> each.preferred() ? "preferred " + each.origin() : each.origin())
                .collect(Collectors.toList());
    }

    @Test
    void endPointsHaveIdsAndRanks() {
        EndpointProvider low = () -> "x";
        EndpointProvider high = () -> "x";
        EndpointProvider other = () -> "y";
        registry.add(low, FIRST, "low 1", 0);
        registry.add(high, SECOND, "high 1", 7);
        registry.add(other, THIRD, "other 1", 9);
        assertEquals(List.of("other 1", "high 1"), endpoints());
        assertSame(registry.endpoints(), registry.endpoints());
        assertEquals("endpoint x", registry.refused().getFirst().what());
        registry.prefer(Map.of("endpoint.x", "low"));
        assertEquals(List.of("other 1", "preferred low 1"), endpoints());
        registry.hold(FIRST);
        assertEquals(List.of("other 1", "high 1"), endpoints());
        registry.remove(high);
        assertEquals(List.of("other 1"), endpoints());
    }
}
