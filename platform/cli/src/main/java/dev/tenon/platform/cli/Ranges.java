package dev.tenon.platform.cli;

import java.lang.reflect.AnnotatedElement;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/// Refuses numbers outside of the [Range] of their option.
public final class Ranges {
    private Ranges() {}

    /// Runs the last command, as picocli does by default, after checking all options that were given.
    ///
    /// @param result what was parsed, with its subcommands
    /// @return the command's exit status
    /// @throws ParameterException with option, value and what is allowed
    public static int run(ParseResult result) {
        check(result);
        return new CommandLine.RunLast().execute(result);
    }

    private static void check(ParseResult result) {
        for (ParseResult at = result; at != null && !at.isUsageHelpRequested(); at = at.subcommand()) {
            for (OptionSpec option : at.matchedOptions()) {
                Range range =
                        option.userObject() instanceof AnnotatedElement field ? field.getAnnotation(Range.class) : null;
                if (range != null) {
                    Object value = option.getValue();
                    for (Object each : value instanceof Collection<?> several ? several : List.of(value)) {
                        check(at, option, range, ((Number) each).doubleValue());
                    }
                }
            }
        }
    }

    private static void check(ParseResult at, OptionSpec option, Range range, double value) {
        if (value >= range.min() && value <= range.max()) {
            return;
        }
        String allowed = range.max() == Float.MAX_VALUE
                ? "at least " + plain(range.min())
                : plain(range.min()) + " to " + plain(range.max());
        throw new ParameterException(
                at.commandSpec().commandLine(),
                "Invalid value for option '" + option.longestName() + "': " + plain(value) + "; expected " + allowed);
    }

    private static String plain(double value) {
        return Double.isFinite(value)
                ? new BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString()
                : Double.toString(value);
    }
}
