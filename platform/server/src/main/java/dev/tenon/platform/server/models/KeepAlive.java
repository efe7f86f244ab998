package dev.tenon.platform.server.models;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads how long a model stays loaded: seconds, or a duration such as `5m` or `1h30m`; a negative one means for ever,
/// zero that it is unloaded at once.
public final class KeepAlive {
    /// For ever.
    public static final Duration FOREVER = Duration.ofSeconds(-1);

    private static final Pattern NUMBER = Pattern.compile("[+-]?\\d{1,12}(\\.\\d{1,9})?");
    private static final Pattern PARTS = Pattern.compile("[+-]?(\\d{1,9}(\\.\\d{1,9})?(h|m|s|ms|us|µs|ns))+");
    private static final Pattern PART = Pattern.compile("(\\d+(?:\\.\\d+)?)(h|ms|m|s|us|µs|ns)");
    private static final Map<String, Long> NANOS = Map.of(
            "h",
            3_600_000_000_000L,
            "m",
            60_000_000_000L,
            "s",
            1_000_000_000L,
            "ms",
            1_000_000L,
            "us",
            1_000L,
            "µs",
            1_000L,
            "ns",
            1L);
    private static final BigDecimal LONGEST = BigDecimal.valueOf(Long.MAX_VALUE / 2);

    private KeepAlive() {}

    /// {@return the time that a text means, if it means one}
    ///
    /// @param text a number of seconds, or a duration
    public static Optional<Duration> parse(String text) {
        BigDecimal nanos;
        if (NUMBER.matcher(text).matches()) {
            nanos = new BigDecimal(text).movePointRight(9);
        } else if (PARTS.matcher(text).matches()) {
            nanos = BigDecimal.ZERO;
            Matcher part = PART.matcher(text);
            while (part.find()) {
                nanos = nanos.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(NANOS.get(part.group(2)))));
            }
            nanos = text.startsWith("-") ? nanos.negate() : nanos;
        } else {
            return Optional.empty();
        }
        boolean forever = nanos.signum() < 0 || nanos.compareTo(LONGEST) > 0;
        return Optional.of(forever ? FOREVER : Duration.ofNanos(nanos.longValue()));
    }
}
