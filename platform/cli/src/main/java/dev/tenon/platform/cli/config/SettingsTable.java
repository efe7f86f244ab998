package dev.tenon.platform.cli.config;

import dev.tenon.api.config.Setting;
import dev.tenon.platform.cli.text.Json;
import dev.tenon.platform.core.control.SettingValue;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Settings by who reads them: as a table, as JSON, and as the page `docs/settings.md`. A setting
/// of several backends is listed once, with all their names.
final class SettingsTable {
    private static final String HIDDEN = "(set)";

    private final List<SettingValue> values;

    /// Sorts values into a table.
    ///
    /// @param values the values; those of one name are merged
    SettingsTable(List<SettingValue> values) {
        Map<String, List<SettingValue>> byName = new LinkedHashMap<>();
        values.forEach(value -> byName.computeIfAbsent(value.setting().name(), name -> new ArrayList<>())
                .add(value));
        this.values = byName.values().stream()
                .map(SettingsTable::merged)
                .sorted(Comparator.comparing(SettingValue::owner)
                        .thenComparing(value -> value.setting().name()))
                .toList();
    }

    private static SettingValue merged(List<SettingValue> same) {
        SettingValue first = same.getFirst();
        String owners = same.stream().map(SettingValue::owner).collect(Collectors.toCollection(TreeSet::new)).stream()
                .collect(Collectors.joining(", "));
        return new SettingValue(owners, first.setting(), first.value(), first.origin(), first.problem());
    }

    /// Prints a line for each setting, and a second one where its value is not allowed.
    ///
    /// @param out where to
    void print(PrintWriter out) {
        String owner = "";
        for (SettingValue value : values) {
            if (!owner.equals(value.owner())) {
                out.println((owner.isEmpty() ? "" : System.lineSeparator()) + value.owner());
                owner = value.owner();
            }
            out.println(String.format("  %-26s %-32s %s", value.setting().name(), shown(value), value.origin())
                    .stripTrailing());
            if (!value.problem().isEmpty()) {
                out.println("    -> " + value.problem());
            }
        }
    }

    /// Secrets are not for screens and reports.
    private static String shown(SettingValue value) {
        boolean secret = value.setting().name().matches(".*(token|password)");
        return secret && !value.value().isEmpty() ? HIDDEN : value.value();
    }

    /// {@return an array with an object for each setting}
    String json() {
        return Json.pretty(json -> {
            json.writeStartArray();
            for (SettingValue value : values) {
                Setting setting = value.setting();
                json.writeStartObject();
                json.writeStringField("owner", value.owner());
                json.writeStringField("name", setting.name());
                json.writeStringField("value", shown(value));
                json.writeStringField("from", value.origin());
                json.writeStringField("default", setting.defaultValue());
                json.writeStringField("allowed", setting.type().allowed());
                json.writeStringField("meaning", setting.meaning());
                json.writeArrayFieldStart("environment");
                for (String variable : variables(setting)) {
                    json.writeString(variable);
                }
                json.writeEndArray();
                json.writeStringField("problem", value.problem());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    private static List<String> variables(Setting setting) {
        List<String> variables = new ArrayList<>(List.of(setting.variable()));
        variables.addAll(setting.environment());
        return variables;
    }

    /// Prints the page of all settings, which does not depend on this machine.
    ///
    /// @param out where to
    void page(PrintWriter out) {
        out.println("""
                # Settings

                This page is made by `./tenon config --markdown > docs/settings.md` from what the modules declare; a test compares it.

                From weakest to strongest: default, file of `etc`, environment (`TENON_CHAT_HISTORY` for `chat.history`, `TENON_VECTOR_BITS` for
                `tenon.vector.bits`), command line. The files are `etc/dev.tenon.platform.cfg` for the engine and backends,
                `etc/dev.tenon.platform.cli.cfg` for the command line, `etc/dev.tenon.platform.bundles.cfg` for bundles,
                `etc/dev.tenon.platform.server.cfg` for the server. `--set NAME=VALUE` gives
                a backend's setting, `prefill.budget.ms`, `prefix.cache`, `tuned` or `unused.tensors` for one model. A setting marked * is read
                once in a process, from a system property of its name (`TENON_JAVA_OPTS=-Dtenon.kernels.x86=off`) or the environment.
                `tenon config` shows the values that hold, and where they come from. Which of several bundles is used, and how
                `prefer.KIND.ID` names another one: [bundles.md](bundles.md#which-one-is-used).""");
        String owner = "";
        for (SettingValue value : values) {
            Setting setting = value.setting();
            if (!owner.equals(value.owner())) {
                owner = value.owner();
                out.println(System.lineSeparator() + "## " + owner + System.lineSeparator());
                out.println("| setting | default | allowed | meaning |");
                out.println("| --- | --- | --- | --- |");
            }
            out.println("| `" + setting.name() + "`" + (setting.atStart() ? " *" : "") + " | "
                    + (setting.defaultValue().isEmpty() ? "" : "`" + setting.defaultValue() + "`") + " | "
                    + setting.type().allowed() + " | " + setting.meaning()
                    + setting.environment().stream()
                            .map(v -> " Also `" + v + "`.")
                            .collect(Collectors.joining()) + " |");
        }
    }
}
