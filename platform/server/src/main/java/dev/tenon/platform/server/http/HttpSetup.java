package dev.tenon.platform.server.http;

import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.auth.HostCheck;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/// What an [HttpServer] is made of.
///
/// @param socket where it listens
/// @param access who may ask
/// @param limits what one client may take
/// @param routes what it answers; asked at each request
/// @param observer hears of each request
public record HttpSetup(
        Socket socket, Access access, HttpLimits limits, Supplier<RouteTable> routes, RequestObserver observer) {
    /// Where a server listens.
    ///
    /// @param address the address; port 0 takes a free one
    /// @param listener a channel that listens there, which its owner closes; null for one of its
    ///     own
    /// @param keyStore the key store for TLS (PKCS 12 or JKS), or null for plain HTTP
    /// @param keyStorePassword its password, or null
    public record Socket(
            InetSocketAddress address, ServerSocketChannel listener, Path keyStore, String keyStorePassword) {
        /// {@return a socket for plain HTTP}
        ///
        /// @param address the address; port 0 takes a free one
        public static Socket plain(InetSocketAddress address) {
            return new Socket(address, null, null, null);
        }
    }

    /// Who may ask.
    ///
    /// @param keys with which keys
    /// @param hosts by which names
    /// @param origins from pages of which origins (CORS), exactly as browsers send them; none by
    ///     default
    public record Access(ApiKeys keys, HostCheck hosts, List<String> origins) {}
}
