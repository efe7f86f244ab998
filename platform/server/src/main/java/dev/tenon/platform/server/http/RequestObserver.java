package dev.tenon.platform.server.http;

/// Hears of each request when it has ended. Called on its thread.
@FunctionalInterface
public interface RequestObserver {
    /// Takes a request.
    ///
    /// @param path path of its route, or `none`
    /// @param status HTTP status; 0 if the client had left
    /// @param nanos how long it took
    void ended(String path, int status, long nanos);
}
