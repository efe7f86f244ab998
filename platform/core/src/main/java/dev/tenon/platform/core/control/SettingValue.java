package dev.tenon.platform.core.control;

import dev.tenon.api.config.Setting;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The value that a setting has, and where it comes from.
///
/// @param owner who reads it, such as `platform` or a backend's id
/// @param setting what was declared
/// @param value the value: in one spelling, or as the user wrote it where it is not allowed
/// @param origin `default`, a file of `etc`, `environment NAME`, `system property` or `command
///     line`
/// @param problem why the value is not allowed, or an empty text
public record SettingValue(String owner, Setting setting, String value, String origin, String problem) {
    /// The origin of a value that nobody has set.
    public static final String DEFAULT = "default";

    /// Looks a setting up, in the order of strength: request, system property (if it is read at
    /// start), environment, file, default. A blank value counts as none.
    ///
    /// @param owner who reads it
    /// @param setting what was declared
    /// @param request values by name, as of `--set`
    /// @param environment environment variables
    /// @param file values by name
    /// @param fileName what messages call the file
    /// @return the value
    public static SettingValue find(
            String owner,
            Setting setting,
            Map<String, String> request,
            Map<String, String> environment,
            Map<String, ?> file,
            String fileName) {
        String text = request.get(setting.name());
        String origin = "command line";
        if (text == null && setting.atStart()) {
            text = System.getProperty(setting.name());
            origin = "system property";
        }
        List<String> variables = new ArrayList<>(List.of(setting.variable()));
        variables.addAll(setting.environment());
        for (String variable : variables) {
            if (blank(text)) {
                text = environment.get(variable);
                origin = "environment " + variable;
            }
        }
        if (blank(text)) {
            Object value = file.get(setting.name());
            text = value == null ? null : value.toString();
            origin = fileName;
        }
        if (blank(text)) {
            return new SettingValue(owner, setting, setting.defaultValue(), DEFAULT, "");
        }
        String given = text.strip();
        Optional<String> value = setting.type().normalize(given);
        String problem = value.isPresent()
                ? ""
                : "Setting " + setting.name() + " is '" + given + "' (" + origin + "); expected "
                        + setting.type().allowed();
        return new SettingValue(owner, setting, value.orElse(given), origin, problem);
    }

    private static boolean blank(String text) {
        return text == null || text.isBlank();
    }

    /// {@return the value}
    ///
    /// @throws TenonException (`CFG-001`) if it is not allowed
    public String checked() {
        if (!problem.isEmpty()) {
            throw new TenonException(ErrorCode.CONFIG, problem);
        }
        return value;
    }
}
