package dev.tenon.platform.bench.serve;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/// What a server did with a number of clients at once.
///
/// @param clients how many clients sent one request after the other
/// @param seconds from the first request to the last answer
/// @param requests the requests; those that failed among them
public record LoadResult(int clients, double seconds, List<RequestTimes> requests) {
    private static final double MILLIS = 1e-6;

    /// {@return the requests with a whole answer}
    public List<RequestTimes> answered() {
        return requests.stream().filter(r -> r.failure() == null).toList();
    }

    /// {@return how often requests failed, by reason}
    public Map<String, Long> failures() {
        return requests.stream()
                .filter(r -> r.failure() != null)
                .collect(Collectors.groupingBy(RequestTimes::failure, TreeMap::new, Collectors.counting()));
    }

    /// {@return tokens of all answers a second}
    public double tokensPerSecond() {
        return answered().stream().mapToLong(RequestTimes::tokens).sum() / seconds;
    }

    /// {@return answers a second}
    public double requestsPerSecond() {
        return answered().size() / seconds;
    }

    /// {@return milliseconds until the first text, at a percentile}
    public double toFirst(double percent) {
        return percentile(RequestTimes::toFirst, percent);
    }

    /// {@return milliseconds a token after the first one, at a percentile of the answers}
    public double perToken(double percent) {
        return percentile(RequestTimes::perToken, percent);
    }

    /// {@return milliseconds until the end of the answer, at a percentile}
    public double whole(double percent) {
        return percentile(RequestTimes::whole, percent);
    }

    /// {@return milliseconds between two events with text, at a percentile of all events}
    public double gap(double percent) {
        return percentile(
                answered().stream()
                        .flatMapToLong(r -> Arrays.stream(r.gaps()))
                        .asDoubleStream()
                        .toArray(),
                percent);
    }

    private double percentile(ToDoubleFunction<RequestTimes> of, double percent) {
        return percentile(answered().stream().mapToDouble(of).toArray(), percent);
    }

    /// {@return the smallest value that so many percent do not exceed, in milliseconds; NaN of none}
    private static double percentile(double[] nanos, double percent) {
        if (nanos.length == 0) {
            return Double.NaN;
        }
        Arrays.sort(nanos);
        int rank = (int) Math.ceil(percent / 100 * nanos.length);
        return nanos[Math.max(0, rank - 1)] * MILLIS;
    }
}
