package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.api.config.Setting;
import dev.tenon.api.config.SettingType;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What all [BundleSettings] have to keep to. What a value changes is their own.
public abstract class BundleSettingsContract {
    /// For subclasses.
    protected BundleSettingsContract() {}

    /// {@return what is under test}
    protected abstract BundleSettings settings();

    @Test
    void ownerAndSettingsAreAlwaysTheSame() {
        BundleSettings settings = settings();
        assertFalse(settings.owner().isBlank(), "they have no owner");
        assertEquals(settings.owner(), settings.owner());
        assertEquals(List.copyOf(settings.settings()), settings.settings());
        assertFalse(settings.settings().isEmpty(), "there are none");
    }

    @Test
    void namesAreWordsOfTheirOwnWithDotsAndDashes() {
        List<String> names = settings().settings().stream().map(Setting::name).toList();
        assertEquals(new HashSet<>(names).size(), names.size(), () -> "one is there twice: " + names);
        for (String name : names) {
            assertTrue(
                    name.matches("[a-z][a-z0-9]*([.-][a-z0-9]+)+"),
                    () -> "'" + name + "'; expected a word of the bundle's own, a dot, and more words");
        }
    }

    @Test
    void eachSaysWhatItIsFor() {
        for (Setting setting : settings().settings()) {
            assertTrue(
                    setting.meaning().matches("\\p{Lu}.*\\."),
                    () -> setting.name() + " says '" + setting.meaning() + "'; expected a sentence");
        }
    }

    @TestFactory
    Stream<DynamicTest> eachAllowedValueIsTaken() {
        BundleSettings settings = settings();
        Map<String, String> defaults = new TreeMap<>();
        settings.settings().forEach(setting -> defaults.put(setting.name(), setting.defaultValue()));
        return settings.settings().stream()
                .flatMap(setting -> values(setting).map(value -> {
                    Map<String, String> values = new TreeMap<>(defaults);
                    values.put(setting.name(), value);
                    return DynamicTest.dynamicTest(
                            setting.name() + " = '" + value + "'",
                            () -> assertDoesNotThrow(() -> settings.configured(Map.copyOf(values))));
                }));
    }

    private static Stream<String> values(Setting setting) {
        Stream<String> more = switch (setting.type()) {
            case SettingType.Flag _ -> Stream.of("on", "off");
            case SettingType.Whole whole -> Stream.of(Long.toString(whole.least()), Long.toString(whole.most()));
            case SettingType.Choice choice -> choice.values().stream();
            case SettingType.Text _ -> Stream.of("", "a text", "\u00FC=1;{}");
            case SettingType.FilePath _ -> Stream.of("", "no/such/file");
        };
        return Stream.concat(Stream.of(setting.defaultValue()), more).distinct();
    }

    @Test
    void aCallMayComeFromAnotherThread() {
        BundleSettings settings = settings();
        Map<String, String> defaults = new TreeMap<>();
        settings.settings().forEach(setting -> defaults.put(setting.name(), setting.defaultValue()));
        settings.configured(Map.copyOf(defaults));
        Throwable[] failure = new Throwable[1];
        Thread thread = Thread.ofPlatform()
                .uncaughtExceptionHandler((failed, e) -> failure[0] = e)
                .start(() -> settings.configured(Map.copyOf(defaults)));
        assertDoesNotThrow(() -> thread.join());
        assertEquals(null, failure[0], "on another thread");
    }
}
