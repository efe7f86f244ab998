package dev.tenon.api.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.quant.QuantFormat;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KernelOffersTests {
    private record Fake(String name, String deviceKind, String format) implements Kernel {
        @Override
        public String op() {
            return "linear";
        }
    }

    /// Two classes of providers, so that names decide between equal ranks.
    private record Apples(int rank, List<Kernel> kernels) implements KernelProvider {}

    private record Pears(int rank, List<Kernel> kernels) implements KernelProvider {}

    private static Kernel kernel(String name) {
        return new Fake(name, "cpu", "Q4_K");
    }

    private static List<String> names(KernelProvider... providers) {
        return KernelOffers.of(List.of(providers), "cpu").offers().stream()
                .map(offer -> offer.kernel().name())
                .toList();
    }

    @Test
    void ofTwoProvidersTheHigherRankWinsWhateverComesFirst() {
        Apples apples = new Apples(0, List.of(kernel("apple")));
        Pears pears = new Pears(1, List.of(kernel("pear")));
        assertEquals(List.of("pear", "apple"), names(apples, pears));
        assertEquals(List.of("pear", "apple"), names(pears, apples));
        Optional<Fake> first = KernelOffers.of(List.of(apples, pears), "cpu")
                .first(Fake.class, kernel -> kernel.format().equals("Q4_K"));
        assertEquals("pear", first.orElseThrow().name());
    }

    @Test
    void ofEqualRanksTheClassNameDecidesAndThenTheProvidersOrder() {
        Apples apples = new Apples(3, List.of(kernel("b"), kernel("a")));
        Pears pears = new Pears(3, List.of(kernel("c")));
        assertEquals(List.of("b", "a", "c"), names(pears, apples));
    }

    /// Makes a kernel of any layout.
    private record Cherries(int rank) implements KernelProvider {
        @Override
        public List<Kernel> kernels() {
            return List.of();
        }

        @Override
        public List<Kernel> kernels(QuantFormat format) {
            return List.of(kernel("cherry"));
        }
    }

    private static String taken(KernelProvider... providers) {
        QuantFormat format = (QuantFormat) Proxy.newProxyInstance(
                QuantFormat.class.getClassLoader(), new Class<?>[] {QuantFormat.class}, (self, method, args) -> "Q4_K");
        return KernelOffers.of(List.of(providers), "cpu")
                .first(Fake.class, format, _ -> true)
                .map(Fake::name)
                .orElse("none");
    }

    @Test
    void ofEqualRanksWhatAProviderHasComesBeforeWhatIsMadeOfALayout() {
        assertEquals("cherry", taken(new Cherries(0)));
        assertEquals("cherry", taken(new Cherries(0), new Pears(0, List.of(new Fake("pear", "cpu", "F16")))));
        assertEquals("pear", taken(new Cherries(0), new Pears(0, List.of(kernel("pear")))));
        assertEquals("cherry", taken(new Cherries(1), new Pears(0, List.of(kernel("pear")))));
        assertEquals("none", taken(new Pears(0, List.of(new Fake("pear", "cuda", "Q4_K")))));
    }

    @Test
    void onlyKernelsOfTheDeviceAndTypeThatFitAreFound() {
        Apples apples = new Apples(0, List.of(new Fake("gpu", "cuda", "Q4_K"), new Fake("other", "cpu", "F16")));
        KernelOffers offers = KernelOffers.of(List.of(apples), "cpu");
        assertEquals(1, offers.offers().size());
        assertEquals(
                Optional.empty(),
                offers.first(Fake.class, kernel -> kernel.format().equals("Q4_K")));
        assertThrows(UnsupportedOperationException.class, () -> offers.offers().clear());
    }
}
