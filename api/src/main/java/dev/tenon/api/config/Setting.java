package dev.tenon.api.config;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/// A setting that a bundle reads: its name, what it takes, what it is without being set, and what
/// it is for.
///
/// ```java
/// static final Setting GRAPHS = Setting.flag("cuda.graphs", true, "Launches a step as one captured graph.");
/// static final Setting BLOCK =
///         Setting.choice("mv.block-size", "0", List.of("0", "128", "256"), "Threads of a block; 0: the device's.")
///                 .alsoFrom("MV_BLOCKSIZE");
/// ```
///
/// A user gives it, from weakest to strongest, in a file of `etc`, in the environment (see
/// [#variable()]), or with `--set NAME=VALUE`. The value reaches its reader checked and in one
/// spelling. Immutable.
///
/// @param name unique among all settings: lower-case words with dots and dashes
/// @param type what values it takes
/// @param defaultValue the value that it has without being set; one of its type
/// @param meaning one sentence, or two
/// @param environment further environment variables, besides [#variable()]; unmodifiable
/// @param atStart whether it is read once in a process, from a system property of its name or the
///     environment only
public record Setting(
        String name, SettingType type, String defaultValue, String meaning, List<String> environment, boolean atStart) {
    private static final String PREFIX = "tenon.";

    /// Checks that the default is of the type.
    ///
    /// @throws IllegalArgumentException if it is not
    public Setting {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(meaning, "meaning");
        environment = List.copyOf(environment);
        if (type.normalize(defaultValue).isEmpty()) {
            throw new IllegalArgumentException(
                    "setting " + name + ": default '" + defaultValue + "'; expected " + type.allowed());
        }
    }

    private static Setting of(String name, SettingType type, String defaultValue, String meaning) {
        return new Setting(name, type, defaultValue, meaning, List.of(), false);
    }

    /// {@return a setting that is on or off}
    ///
    /// @param name its name
    /// @param defaultValue what it is without being set
    /// @param meaning what it does where it is on
    public static Setting flag(String name, boolean defaultValue, String meaning) {
        return of(name, new SettingType.Flag(), defaultValue ? "on" : "off", meaning);
    }

    /// {@return a setting that is a whole number}
    ///
    /// @param name its name
    /// @param defaultValue what it is without being set
    /// @param least smallest allowed value
    /// @param most largest allowed value
    /// @param meaning what is counted, and in what unit
    public static Setting integer(String name, long defaultValue, long least, long most, String meaning) {
        return of(name, new SettingType.Whole(least, most), Long.toString(defaultValue), meaning);
    }

    /// {@return a setting that is one of several words}
    ///
    /// @param name its name
    /// @param defaultValue what it is without being set
    /// @param values the words
    /// @param meaning what is chosen
    public static Setting choice(String name, String defaultValue, List<String> values, String meaning) {
        return of(name, new SettingType.Choice(values), defaultValue, meaning);
    }

    /// {@return a setting that is any text}
    ///
    /// @param name its name
    /// @param defaultValue what it is without being set; may be empty
    /// @param meaning what it says
    public static Setting text(String name, String defaultValue, String meaning) {
        return of(name, new SettingType.Text(), defaultValue, meaning);
    }

    /// {@return a setting that is a file or folder}
    ///
    /// @param name its name
    /// @param defaultValue what it is without being set; may be empty
    /// @param meaning what lies there
    public static Setting path(String name, String defaultValue, String meaning) {
        return of(name, new SettingType.FilePath(), defaultValue, meaning);
    }

    /// {@return the same setting with further environment variables, which [#variable()] goes
    /// before}
    ///
    /// @param variables their names
    public Setting alsoFrom(String... variables) {
        return new Setting(name, type, defaultValue, meaning, List.of(variables), atStart);
    }

    /// {@return the same setting, read once in a process: no file and no `--set` changes it}
    public Setting readAtStart() {
        return new Setting(name, type, defaultValue, meaning, environment, true);
    }

    /// {@return its own environment variable: `TENON_` and the name in capitals, with underscores
    /// for dots and dashes}
    public String variable() {
        String rest = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        return "TENON_" + rest.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
    }

    /// Checks a value, and brings it into the one spelling that readers see.
    ///
    /// @param text what a user wrote
    /// @return the value
    /// @throws TenonException (`CFG-001`) with name, value and what is allowed
    public String parse(String text) {
        return type.normalize(text.strip())
                .orElseThrow(() -> new TenonException(
                        ErrorCode.CONFIG,
                        "Setting " + name + " is '" + text.strip() + "'; expected " + type.allowed()));
    }

    /// {@return the checked value among settings by name, or the default}
    ///
    /// @param settings values by name, as a device or plan is given them
    /// @throws TenonException (`CFG-001`) if the value is none of its type
    public String in(Map<String, String> settings) {
        String text = settings.get(name);
        return text == null ? defaultValue : parse(text);
    }

    /// {@return whether a [#flag] is on, among settings by name}
    ///
    /// @param settings values by name
    /// @throws TenonException (`CFG-001`) if the value is none of its type
    public boolean isOn(Map<String, String> settings) {
        return in(settings).equals("on");
    }

    /// {@return the value that a setting of [#readAtStart] has in this process, from its system
    /// property or its environment variables; in one spelling where it is of its type, and as it
    /// stands where it is not: its reader says what it makes of that}
    public String ofProcess() {
        String text = System.getProperty(name);
        for (int i = -1; text == null && i < environment.size(); i++) {
            text = System.getenv(i < 0 ? variable() : environment.get(i));
        }
        return text == null ? defaultValue : type.normalize(text.strip()).orElse(text.strip());
    }
}
