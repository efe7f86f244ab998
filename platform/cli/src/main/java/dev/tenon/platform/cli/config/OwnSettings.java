package dev.tenon.platform.cli.config;

import dev.tenon.api.config.Setting;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.core.control.SettingValue;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The settings of the command line, and those of the start script and the launcher, which share no
/// class with bundles.
public final class OwnSettings {
    private static final String OWNER = "command line";
    private static final String FILE = "etc/dev.tenon.platform.cli.cfg";

    /// What commands look up by [Console#setting].
    static final List<Setting> COMMANDS = List.of(
            Setting.text("model", "", "The model that `run` and `chat` take when none is named."),
            Setting.path("models", "", "Where `pull` puts models; ~/.cache/tenon/models if empty."),
            Setting.choice("color", "auto", List.of("auto", "always", "never"), "Colours; auto: on a terminal."),
            Setting.path("chat.history", "", "The file of lines typed in `chat`; ~/.cache/tenon/history if empty."),
            Setting.text(
                    "bundles.repositories",
                    "",
                    "Where `bundles install` looks, in this order, with commas between; Maven Central if empty:"
                            + " addresses or folders in Maven's layout, and indexes of OSGi repositories (.xml)."),
            Setting.text("hf.url", "https://huggingface.co", "The hub that `pull` asks."),
            Setting.text("hf.token", "", "The access token for the hub.").alsoFrom("HF_TOKEN"),
            Setting.flag("debug", false, "Prints the stack trace of an error (1 counts as on)."));

    /// What is read before there are bundles.
    static final List<Setting> START = List.of(
            Setting.path("tenon.java.home", "", "The JDK to use; else JAVA_HOME, else one in the usual places.")
                    .readAtStart(),
            Setting.text("tenon.java.opts", "", "Further options of the JVM, split at blanks, such as -Xmx8g.")
                    .readAtStart(),
            Setting.text(
                            "tenon.log",
                            "warn",
                            "Log level: error, warn, info, debug, trace; or levels of loggers, such as"
                                    + " info,dev.tenon=debug; goes over etc/log.properties.")
                    .readAtStart(),
            Setting.text("tenon.aot", "on", "The cache that shortens the start; off: not used; make: only made.")
                    .readAtStart(),
            Setting.integer(
                            "tenon.watch.delay",
                            1000,
                            0,
                            Integer.MAX_VALUE,
                            "Milliseconds before deploy and etc are watched (system property).")
                    .readAtStart(),
            Setting.integer(
                            "tenon.watch.poll",
                            250,
                            1,
                            Integer.MAX_VALUE,
                            "Milliseconds between two looks at deploy and etc (system property).")
                    .readAtStart());

    private OwnSettings() {}

    /// {@return the settings and their values}
    ///
    /// @param console looks values up
    static List<SettingValue> values(Console console) {
        Stream<SettingValue> commands = COMMANDS.stream().map(setting -> {
            Map<String, String> file = console.setting(setting.name())
                    .map(value -> Map.of(setting.name(), value))
                    .orElse(Map.of());
            return SettingValue.find(OWNER, setting, Map.of(), System.getenv(), file, FILE);
        });
        Stream<SettingValue> start = START.stream()
                .map(setting -> SettingValue.find("start", setting, Map.of(), System.getenv(), Map.of(), ""));
        return Stream.concat(commands, start).toList();
    }

    /// {@return whether one of these settings is read from an environment variable}
    ///
    /// @param variable the variable's name
    public static boolean reads(String variable) {
        return Stream.concat(COMMANDS.stream(), START.stream())
                .anyMatch(setting -> setting.variable().equals(variable));
    }
}
