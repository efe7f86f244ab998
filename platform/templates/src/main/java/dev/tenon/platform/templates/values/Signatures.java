package dev.tenon.platform.templates.values;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What can be called by name, and with which arguments: one a line, as
/// [Arguments#require(String, List)] reads them.
final class Signatures {
    private Signatures() {}

    static Map<String, List<String>> of(String lines) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        lines.lines().forEach(line -> {
            List<String> words = new ArrayList<>(List.of(line.split(" ")));
            for (String name : words.removeFirst().split(",")) {
                all.put(name, words);
            }
        });
        return all;
    }
}
