package dev.tenon.platform.server.http;

import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.auth.HostCheck;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.List;

/// What an [HttpServer] is made of.
///
/// @param address where it listens; port 0 takes a free one
/// @param listener a channel that listens there, which its owner closes; null for one of its own
/// @param routes what it answers
/// @param keys who may ask
/// @param hosts by which names
/// @param origins which origins of pages may ask (CORS), exactly as browsers send them; none by default
/// @param limits what one client may take
/// @param keyStore the key store for TLS (PKCS 12 or JKS), or null for plain HTTP
/// @param keyStorePassword its password, or null
/// @param observer hears of each request
public record HttpSetup(
        InetSocketAddress address,
        ServerSocketChannel listener,
        List<Route> routes,
        ApiKeys keys,
        HostCheck hosts,
        List<String> origins,
        HttpLimits limits,
        Path keyStore,
        String keyStorePassword,
        RequestObserver observer) {}
