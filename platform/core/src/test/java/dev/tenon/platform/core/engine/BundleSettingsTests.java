package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Settings that bundles declare, and are told.
class BundleSettingsTests {
    private static final Setting SERVER = Setting.text("own.server", "", "Where values are sent to.");
    private static final Setting EVERY = Setting.integer("own.every-seconds", 10, 1, 60, "Seconds between two of them.")
            .alsoFrom("EVERY");

    private final ServiceRegistry registry = new ServiceRegistry();
    private final TenonEngine engine = new TenonEngine(registry, config(Map.of(), Map.of()));

    private static class Own implements BundleSettings {
        private final List<Map<String, String>> told = new ArrayList<>();

        @Override
        public String owner() {
            return "own";
        }

        @Override
        public List<Setting> settings() {
            return List.of(SERVER, EVERY);
        }

        @Override
        public void configured(Map<String, String> values) {
            told.add(values);
        }
    }

    private static EngineConfig config(Map<String, String> file, Map<String, String> environment) {
        return EngineConfig.of(file, environment);
    }

    private static Map<String, String> values(String server, String every) {
        return Map.of("own.server", server, "own.every-seconds", every);
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void valuesAreToldToWhatComesAndToldAgainWhenTheyChange() {
        Own own = new Own();
        registry.add((BundleSettings) new Own() {
            @Override
            public void configured(Map<String, String> values) {
                throw new IllegalStateException("one that is broken");
            }
        });
        registry.add(own);
        engine.configure(config(Map.of("own.server", " a:1 "), Map.of("EVERY", "20")));
        engine.configure(config(Map.of("own.server", "b:2"), Map.of("TENON_OWN_EVERY_SECONDS", "30")));
        assertEquals(List.of(values("", "10"), values("a:1", "20"), values("b:2", "30")), own.told);
    }

    @Test
    void thoseThatWereThereFirstAreToldByANewEngine() {
        Own own = new Own();
        registry.add(own);
        own.told.clear();
        new TenonEngine(registry, config(Map.of("own.server", "a"), Map.of())).close();
        assertEquals(List.of(values("a", "10")), own.told);
    }

    @Test
    void aNewVersionIsToldInPlaceOfTheOld() {
        Own old = new Own();
        Own next = new Own();
        registry.add(old, 1);
        registry.hold(2);
        registry.add(next, 2);
        assertEquals(List.of(), next.told, "it is held");
        engine.replace(Set.of(1L), Set.of(2L), "replaced", false);
        engine.configure(config(Map.of("own.server", "b"), Map.of()));
        assertEquals(List.of(values("", "10")), old.told);
        assertEquals(List.of(values("", "10"), values("b", "10")), next.told);
    }

    @Test
    void theyAreListedWithWhatIsWrongAndTheDefaultHolds() {
        Own own = new Own();
        registry.add(own);
        engine.configure(config(Map.of("own.every-seconds", "61"), Map.of("TENON_OWN_SERVER", "c")));
        assertEquals(values("c", "10"), own.told.getLast());
        List<SettingValue> listed = engine.settings(Map.of()).stream()
                .filter(value -> value.owner().equals("own"))
                .toList();
        assertEquals(
                List.of(SERVER, EVERY),
                listed.stream().map(SettingValue::setting).toList());
        assertEquals("environment TENON_OWN_SERVER", listed.getFirst().origin());
        assertTrue(listed.getLast().problem().contains("own.every-seconds is '61'"), listed::toString);
    }
}
