package dev.tenon.platform.bench.serve;

/// When the answer to one request came.
///
/// @param toFirst nanoseconds from the request to the first text
/// @param whole nanoseconds from the request to the end of the answer
/// @param tokens how many tokens it has: what the server says, else the events with text
/// @param gaps nanoseconds between its events with text; owned by the record
/// @param failure why there is no whole answer; null if there is one
public record RequestTimes(long toFirst, long whole, int tokens, long[] gaps, String failure) {
    /// {@return a request that failed}
    public static RequestTimes failed(String why) {
        return new RequestTimes(0, 0, 0, new long[0], why);
    }

    /// {@return nanoseconds a token after the first one; 0 of a single token}
    double perToken() {
        return tokens < 2 ? 0 : (whole - toFirst) / (tokens - 1.0);
    }
}
