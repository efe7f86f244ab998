package dev.tenon.platform.server.auth;

import java.net.InetAddress;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Which names a client may call the server by. A page of another site that has its own name resolve to this machine
/// (DNS rebinding) sends that name. Immutable.
public final class HostCheck {
    private static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1", "[::1]", "::1");

    private final Set<String> allowed;

    private HostCheck(Set<String> allowed) {
        this.allowed = allowed;
    }

    /// {@return the names of loopback, if it listens there, and others; where it listens elsewhere and none is
    ///     given, all names}
    ///
    /// @param address where the server listens
    /// @param others further names, without port
    public static HostCheck of(InetAddress address, Collection<String> others) {
        if (!address.isLoopbackAddress() && others.isEmpty()) {
            return new HostCheck(Set.of());
        }
        Set<String> names = new HashSet<>(LOOPBACK);
        others.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
        return new HostCheck(Set.copyOf(names));
    }

    /// {@return whether a name is allowed}
    ///
    /// @param host host of a request without port, or null
    public boolean allows(String host) {
        return allowed.isEmpty() || host != null && allowed.contains(host.toLowerCase(Locale.ROOT));
    }
}
