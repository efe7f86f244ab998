package dev.tenon.platform.server.http;

import java.time.Duration;

/// What one client may take of the server.
///
/// @param bodyBytes largest body of a request, what pictures and sounds have in base64 left out
/// @param mediaBytes how much larger it may be by pictures and sounds in base64
/// @param headerBytes largest header of a request
/// @param connectionsPerAddress most open connections from one address; 0 for any number
/// @param headerTime how long a connection may take to send a header that it began
/// @param idleTime how long a connection may be silent between requests, and a client may leave a stream unread
/// @param bodyBytesPerSecond slowest average speed of a body that takes longer than a header may
/// @param pingTime after how long without an event a stream gets a comment line
public record HttpLimits(
        int bodyBytes,
        int mediaBytes,
        int headerBytes,
        int connectionsPerAddress,
        Duration headerTime,
        Duration idleTime,
        int bodyBytesPerSecond,
        Duration pingTime) {
    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;

    /// {@return the limits of a server that nobody configured}
    public static HttpLimits defaults() {
        return new HttpLimits(
                16 * MIB,
                48 * MIB,
                16 * KIB,
                1024,
                Duration.ofSeconds(10),
                Duration.ofSeconds(60),
                KIB,
                Duration.ofSeconds(15));
    }

    /// {@return the same limits with another body size}
    ///
    /// @param bytes largest body of a request without base64
    /// @param media how much larger it may be by base64
    public HttpLimits withBodyBytes(int bytes, int media) {
        return new HttpLimits(
                bytes, media, headerBytes, connectionsPerAddress, headerTime, idleTime, bodyBytesPerSecond, pingTime);
    }

    /// {@return the same limits with another number of connections}
    ///
    /// @param connections most open connections from one address; 0 for any number
    public HttpLimits withConnectionsPerAddress(int connections) {
        return new HttpLimits(
                bodyBytes, mediaBytes, headerBytes, connections, headerTime, idleTime, bodyBytesPerSecond, pingTime);
    }

    /// {@return the same limits with other times}
    ///
    /// @param header how long a connection may take to send a header
    /// @param idle how long a connection may be silent, and a stream unread
    /// @param ping after how long without an event a stream gets a comment line
    public HttpLimits withTimes(Duration header, Duration idle, Duration ping) {
        return new HttpLimits(
                bodyBytes, mediaBytes, headerBytes, connectionsPerAddress, header, idle, bodyBytesPerSecond, ping);
    }
}
