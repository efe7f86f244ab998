package dev.tenon.platform.cli.terminal;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Whether to use colours.
public enum Colors {
    /// On a terminal.
    AUTO,
    /// Even when output is piped.
    ALWAYS,
    /// Not at all.
    NEVER;

    /// Chooses: the option `--no-color` goes before the setting `color`, which goes before `NO_COLOR` and
    /// `TERM`.
    ///
    /// @param setting value of the setting `color`, or null
    /// @param environment environment variables
    /// @param args arguments of the command line
    /// @return the choice
    /// @throws TenonException (`CFG-001`) if the setting is none of the three
    public static Colors choose(String setting, Map<String, String> environment, List<String> args) {
        if (args.contains("--no-color")) {
            return NEVER;
        }
        if (setting != null && !setting.isBlank() && !setting.strip().equalsIgnoreCase("auto")) {
            try {
                return valueOf(setting.strip().toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                throw new TenonException(
                        ErrorCode.CONFIG, "Setting color is '" + setting + "'; expected auto, always or never.", e);
            }
        }
        boolean unwanted = !environment.getOrDefault("NO_COLOR", "").isEmpty();
        return unwanted || "dumb".equals(environment.get("TERM")) ? NEVER : AUTO;
    }

    /// {@return whether to use colours on a stream}
    ///
    /// @param terminal whether the stream is a terminal
    public boolean on(boolean terminal) {
        return this == ALWAYS || this == AUTO && terminal;
    }
}
