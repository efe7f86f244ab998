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
            Setting.text("model", "", "The model that `run` and `chat` use if none is given."),
            Setting.text(
                    "mmproj",
                    "",
                    "The encoder of pictures and sounds that `run`, `chat`, `logits` and `encode` load with a model: a"
                            + " file, auto (the one beside the model) or none; if empty, auto where there are pictures"
                            + " or sounds, else none."),
            Setting.path(
                    "models",
                    "",
                    "The folder where `pull` stores models; ~/.cache/tenon/models if empty (`XDG_CACHE_HOME` is obeyed)."),
            Setting.choice("color", "auto", List.of("auto", "always", "never"), "Colours; auto: on a terminal."),
            Setting.path(
                    "chat.history",
                    "",
                    "The history file of `chat`; ~/.local/state/tenon/history if empty (`XDG_STATE_HOME` is obeyed)."),
            Setting.text(
                    "bundles.repositories",
                    "",
                    "Repositories that `bundles install` searches, in this order, separated by commas; Maven"
                            + " Central if empty:"
                            + " addresses or folders in Maven's layout, and indexes of OSGi repositories (.xml)."),
            Setting.text("hf.url", "https://huggingface.co", "The hub that `pull` downloads from."),
            Setting.text("hf.token", "", "The access token for the hub.").alsoFrom("HF_TOKEN"),
            Setting.flag("debug", false, "Prints the stack trace of an error (1 counts as on)."));

    /// What is read before there are bundles.
    static final List<Setting> START = List.of(
            Setting.path(
                            "tenon.java.home",
                            "",
                            "The Java installation to use; if empty, JAVA_HOME, then the usual places.")
                    .readAtStart(),
            Setting.text("tenon.java.opts", "", "Further JVM options, separated by spaces, such as -Xmx8g.")
                    .readAtStart(),
            Setting.text(
                            "tenon.log",
                            "warn",
                            "Log level: error, warn, info, debug, trace; or levels of loggers, such as"
                                    + " info,dev.tenon=debug; overrides etc/log.properties.")
                    .readAtStart(),
            Setting.text("tenon.aot", "on", "The start-up cache; off: not used; make: create it and exit.")
                    .readAtStart(),
            Setting.integer(
                            "tenon.watch.delay",
                            1000,
                            0,
                            Integer.MAX_VALUE,
                            "Milliseconds after the start until deploy and etc are watched (system property).")
                    .readAtStart(),
            Setting.integer(
                            "tenon.watch.poll",
                            250,
                            1,
                            Integer.MAX_VALUE,
                            "Milliseconds between two checks of deploy and etc (system property).")
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
