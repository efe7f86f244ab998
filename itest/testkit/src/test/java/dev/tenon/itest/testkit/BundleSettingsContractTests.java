package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each broken declaration fails the test of the contract that is there for it.
class BundleSettingsContractTests {
    private enum Fault {
        NONE(""),
        HAS_NO_OWNER("ownerAndSettingsAreAlwaysTheSame"),
        GROWS("ownerAndSettingsAreAlwaysTheSame"),
        HAS_ONE_TWICE("namesAreWordsOfTheirOwnWithDotsAndDashes"),
        HAS_A_NAME_OF_ONE_WORD("namesAreWordsOfTheirOwnWithDotsAndDashes"),
        SAYS_NOTHING("eachSaysWhatItIsFor"),
        REFUSES_ITS_LARGEST_VALUE("eachAllowedValueIsTaken"),
        NEEDS_A_VALUE("eachAllowedValueIsTaken"),
        CHANGES_THE_VALUES("eachAllowedValueIsTaken"),
        KEEPS_TO_A_THREAD("aCallMayComeFromAnotherThread");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static Fault current;

    /// Run by the launcher below, not by the build itself.
    static class UnderTest extends BundleSettingsContract {
        private final BundleSettings settings = new Broken();

        @Override
        protected BundleSettings settings() {
            return settings;
        }
    }

    private static final class Broken implements BundleSettings {
        private final List<Setting> all = new ArrayList<>(List.of(
                Setting.integer("own.number", 1, 0, 9, "How many."),
                Setting.text("own.server", "", "Where."),
                Setting.flag("own.flag", true, "Whether.")));
        private Thread thread;

        Broken() {
            switch (current) {
                case HAS_ONE_TWICE -> all.add(all.getFirst());
                case HAS_A_NAME_OF_ONE_WORD -> all.add(Setting.text("Server", "", "Where."));
                case SAYS_NOTHING -> all.add(Setting.text("own.text", "", ""));
                default -> {}
            }
        }

        @Override
        public String owner() {
            return current == Fault.HAS_NO_OWNER ? "" : "own";
        }

        @Override
        public List<Setting> settings() {
            if (current == Fault.GROWS) {
                all.add(Setting.text("own.text-" + all.size(), "", "More."));
            }
            return List.copyOf(all);
        }

        @Override
        public void configured(Map<String, String> values) {
            switch (current) {
                case REFUSES_ITS_LARGEST_VALUE ->
                    assertTrue(Integer.parseInt(values.get("own.number")) < 9, "too large");
                case NEEDS_A_VALUE -> values.get("own.server").charAt(0);
                case CHANGES_THE_VALUES -> values.remove("own.flag");
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
    void soundOnesPass() {
        current = Fault.NONE;
        assertEquals(Map.of(), ContractRunner.failuresOf(UnderTest.class, 10));
    }
}
