package dev.tenon.platform.server.metrics;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Labels of a series as text, `name="value",…`, and as a map.
final class Labels {
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

    private Labels() {}

    static String text(Map<String, String> labels) {
        return labels.entrySet().stream()
                .map(each -> each.getKey() + "=\""
                        + each.getValue()
                                .replace("\\", "\\\\")
                                .replace("\"", "\\\"")
                                .replace("\n", "\\n")
                        + '"')
                .collect(Collectors.joining(","));
    }

    static Map<String, String> map(String text) {
        Map<String, String> labels = new LinkedHashMap<>();
        Matcher label = LABEL.matcher(text);
        while (label.find()) {
            labels.put(
                    label.group(1),
                    ESCAPE.matcher(label.group(2))
                            .replaceAll(escape ->
                                    Matcher.quoteReplacement(escape.group(1).equals("n") ? "\n" : escape.group(1))));
        }
        return labels;
    }
}
