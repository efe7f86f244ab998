package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken listener fails the test of the contract that is there for it.
class BundleChangeListenerContractTests {
    private enum Fault {
        NONE(""),
        NEEDS_A_VERSION("everyEventIsTaken"),
        EXPECTS_NO_REFUSAL("everyEventIsTaken"),
        KEEPS_TO_A_THREAD("aCallMayComeFromAnotherThread");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends BundleChangeListenerContract {
        private final BundleChangeListener listener = new Broken();

        @Override
        protected BundleChangeListener listener() {
            return listener;
        }
    }

    private static final class Broken implements BundleChangeListener {
        private Thread thread;
        private int major;

        @Override
        public void changed(BundleChange change) {
            switch (current) {
                case NEEDS_A_VERSION ->
                    major += Integer.parseInt(change.version().split("\\.")[0]);
                case EXPECTS_NO_REFUSAL -> assertTrue(change.kind() != BundleChange.Kind.REFUSED);
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
    void aSoundListenerPasses() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 18));
    }
}
