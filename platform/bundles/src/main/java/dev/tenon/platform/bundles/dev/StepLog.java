package dev.tenon.platform.bundles.dev;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What a step's log says, in one line.
public enum StepLog {
    /// Maven's; of another build tool what its compiler writes.
    BUILD(
            "(?s).*Tests run: (\\d+), Failures: 0, Errors: 0",
            "(?m)^(?:\\[ERROR] )?(.*\\.java:(?:\\[\\d+|\\d+: error).*)$",
            "(?m)^\\[ERROR] (?:Failures|Errors): *\\n\\[ERROR] +(.*)$",
            "failed with message:\\n(?:\\[ERROR] )?(.*)",
            "(?m)^\\[ERROR] +(\\S.*)$",
            "(?m)^tenon: (.*)$"),
    /// That of `tenon itest`.
    CONTRACT("(?m)^(\\d+ passed, \\d+ failed, \\d+ skipped) in ", "(?m)^FAILED (.*\\n.*)$", "(?m)^tenon: (.*)$"),
    /// That of `tenon compare`.
    COMPARE(
            "(?m)^(\\d+ ops compared, none diverges)$",
            "(?m)^(First divergence: .*|The two graphs differ .*)$",
            "(?m)^tenon: (.*)$");

    private static final int LONGEST = 160;

    private final Pattern success;
    private final List<Pattern> failures;

    StepLog(String success, String... failures) {
        this.success = Pattern.compile(success);
        this.failures = List.of(failures).stream().map(Pattern::compile).toList();
    }

    /// {@return what came out of a step that passed; perhaps empty}
    ///
    /// @param result how it ended
    public String success(Steps.Result result) {
        return find(success, result).orElse("");
    }

    /// {@return the first useful line of a step that failed; the last line where none is known to be useful}
    ///
    /// @param result how it ended
    public String failure(Steps.Result result) {
        String line = failures.stream()
                .flatMap(pattern -> find(pattern, result).stream())
                .findFirst()
                .or(() ->
                        result.lines().stream().filter(each -> !each.isBlank()).reduce((one, next) -> next))
                .orElse("status " + result.status());
        String flat = line.strip().replaceAll("\\s+", " ");
        return flat.length() > LONGEST ? flat.substring(0, LONGEST) + " ..." : flat;
    }

    private static Optional<String> find(Pattern pattern, Steps.Result result) {
        Matcher matcher = pattern.matcher(String.join("\n", result.lines()));
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }
}
