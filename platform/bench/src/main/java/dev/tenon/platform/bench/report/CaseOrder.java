package dev.tenon.platform.bench.report;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// The order in which cases are shown: those that differ in numbers only stand together and grow, so that `pp32` comes
/// before `pp128`; else as they were measured.
final class CaseOrder {
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");

    private CaseOrder() {}

    /// {@return the cases in order, each once}
    ///
    /// @param measured names in the order of measuring
    static List<String> of(List<String> measured) {
        Map<String, Integer> first = new HashMap<>();
        measured.forEach(name -> first.putIfAbsent(words(name), first.size()));
        return measured.stream()
                .distinct()
                .sorted(Comparator.comparing((String name) -> first.get(words(name)))
                        .thenComparing(CaseOrder::numbers))
                .toList();
    }

    private static String words(String name) {
        return DIGITS.matcher(name).replaceAll("#");
    }

    /// {@return its numbers, each of the same width}
    private static String numbers(String name) {
        StringBuilder text = new StringBuilder();
        DIGITS.matcher(name).results().forEach(found -> text.append(String.format("%20s", found.group())));
        return text.toString();
    }
}
