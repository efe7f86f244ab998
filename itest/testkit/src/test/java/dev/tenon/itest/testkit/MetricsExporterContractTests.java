package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.metrics.FinishedRequest;
import dev.tenon.api.metrics.MetricFamily;
import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.api.metrics.MetricsSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken exporter fails the test of the contract that is there for it.
class MetricsExporterContractTests {
    private enum Fault {
        NONE(""),
        NEEDS_A_GENERATION("everyEventIsTaken"),
        DIVIDES_BY_TOKENS("everyEventIsTaken"),
        NEEDS_A_SERIES("everyEventIsTaken"),
        STAYS_INTERRUPTED("everyEventIsTaken"),
        KEEPS_TO_A_THREAD("aCallMayComeFromAnotherThread");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends MetricsExporterContract {
        private final MetricsExporter exporter = new Broken();

        @Override
        protected MetricsExporter exporter() {
            return exporter;
        }
    }

    private static final class Broken implements MetricsExporter {
        private Thread thread;
        private double sum;

        @Override
        public void finished(FinishedRequest request, MetricsSource metrics) {
            switch (current) {
                case NEEDS_A_GENERATION ->
                    sum += request.generations().getFirst().usage().promptTokens();
                case DIVIDES_BY_TOKENS ->
                    request.generations()
                            .forEach(each -> sum += 1 / each.usage().generatedTokens());
                case NEEDS_A_SERIES -> {
                    for (MetricFamily family : metrics.read()) {
                        sum += family.series().getFirst().value();
                    }
                }
                case STAYS_INTERRUPTED -> Thread.currentThread().interrupt();
                case KEEPS_TO_A_THREAD -> {
                    thread = thread == null ? Thread.currentThread() : thread;
                    assertEquals(thread, Thread.currentThread());
                }
                default -> {}
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFaultIsFound(Fault fault) {
        current = fault;
        Map<String, String> failures = ContractRunner.failuresOf(UnderTest.class, 0);
        assertTrue(failures.containsKey(fault.found), () -> fault + ": " + failures);
    }

    @Test
    void aSoundExporterPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 10));
    }
}
