package dev.tenon.platform.core.tuned;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// What tuning found, as a file keeps it. Immutable.
///
/// @param identity what it was measured with
/// @param settings values by name that were faster than the defaults; empty where the defaults stay
/// @param result what was measured, one line for people
/// @param failed values that hung, failed or computed something else, as `name=value name=value`, and
///     what became of each; they are not tried again
public record TunedSettings(
        TunedIdentity identity, Map<String, String> settings, String result, Map<String, String> failed) {
    private static final String FIRST = "tenon tuned 1";
    private static final String LAST = "sha256 ";

    /// Copies the maps.
    public TunedSettings {
        Objects.requireNonNull(identity, "identity");
        settings = Map.copyOf(settings);
        failed = Map.copyOf(failed);
    }

    /// {@return settings as one line, sorted by name}
    ///
    /// @param settings values by name
    public static String line(Map<String, String> settings) {
        List<String> all = new ArrayList<>();
        settings.forEach((name, value) -> all.add(name + "=" + value));
        return String.join(" ", all.stream().sorted().toList());
    }

    /// {@return the text of the file}
    String text() {
        List<String> lines = new ArrayList<>(List.of(
                FIRST,
                "backend " + oneLine(identity.backend()),
                "device " + oneLine(identity.device()),
                "driver " + oneLine(identity.driver()),
                "given " + oneLine(identity.given()),
                "code " + identity.code(),
                "model " + identity.model(),
                "result " + oneLine(result)));
        settings.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(e -> lines.add("set " + oneLine(e.getKey() + "=" + e.getValue())));
        failed.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(e -> lines.add("failed " + oneLine(e.getKey() + ": " + e.getValue())));
        return String.join("\n", lines) + "\n" + LAST + TunedIdentity.digest(lines) + "\n";
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\p{Cntrl}", " ").strip();
    }

    /// Reads the text of a file.
    ///
    /// @param text what stands in it
    /// @return what it says
    /// @throws IllegalArgumentException what is wrong with it
    static TunedSettings parse(String text) {
        List<String> lines = text.lines().toList();
        if (lines.isEmpty() || !lines.getFirst().equals(FIRST)) {
            throw new IllegalArgumentException("it does not begin with '" + FIRST + "'");
        }
        List<String> content = lines.subList(0, lines.size() - 1);
        if (!lines.getLast().equals(LAST + TunedIdentity.digest(content))) {
            throw new IllegalArgumentException("its last line is not the digest of the others: it was changed");
        }
        Map<String, String> one = new LinkedHashMap<>();
        Map<String, String> settings = new LinkedHashMap<>();
        Map<String, String> failed = new LinkedHashMap<>();
        for (String line : content.subList(1, content.size())) {
            String[] parts = split(line, " ");
            switch (parts[0]) {
                case "set" -> put(settings, split(parts[1], "="));
                case "failed" -> put(failed, split(parts[1], ": "));
                default -> put(one, parts);
            }
        }
        return new TunedSettings(
                new TunedIdentity(
                        required(one, "backend"),
                        required(one, "device"),
                        required(one, "driver"),
                        required(one, "given"),
                        required(one, "code"),
                        required(one, "model")),
                settings,
                required(one, "result"),
                failed);
    }

    private static String[] split(String text, String by) {
        int at = text.indexOf(by);
        return at < 0
                ? new String[] {text, ""}
                : new String[] {text.substring(0, at), text.substring(at + by.length())};
    }

    private static void put(Map<String, String> map, String[] entry) {
        map.put(entry[0], entry[1]);
    }

    private static String required(Map<String, String> values, String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("it has no line '" + name + "'");
        }
        return value;
    }
}
