package dev.tenon.platform.server.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.ssl.SslConnection;

/// Closes connections that are too many from one address, or take too long to send a header. Safe for any thread.
final class Connections implements Connection.Listener {
    /// How long a connection may be silent that shall end. Many servers keep connections no longer.
    private static final long LAST_MILLIS = 5000;

    private final HttpLimits limits;
    private final Map<Connection, Header> open = new ConcurrentHashMap<>();
    private final Map<InetAddress, Integer> ofAddress = new ConcurrentHashMap<>();
    private final Count count = new Count();
    private volatile boolean retired;

    Connections(HttpLimits limits) {
        this.limits = limits;
    }

    /// A connection between two requests.
    private static final class Header {
        /// Whose connection it is; null if it has none. A closed connection does not tell it any more.
        private final InetAddress address;
        /// Bytes that came before this header.
        private long before;
        /// When its first byte was noticed; 0 as long as there is none.
        private long begun;
        private boolean busy;

        Header(InetAddress address) {
            this.address = address;
        }

        /// {@return whether it has been coming for too long}
        synchronized boolean late(Connection connection, long now, long nanos) {
            if (busy || connection.getBytesIn() == before && connection.getMessagesIn() > 0) {
                return false; // a request is being answered, or none has begun
            }
            if (begun == 0) {
                begun = now;
            }
            return now - begun > nanos;
        }

        synchronized boolean isBusy() {
            return busy;
        }

        synchronized void busy(boolean is, long bytes) {
            busy = is;
            before = bytes;
            begun = 0;
        }
    }

    @Override
    public void onOpened(Connection connection) {
        if (connection instanceof SslConnection) {
            return; // the one that is inside it counts
        }
        InetAddress address = address(connection);
        int ofThis = address == null ? 0 : ofAddress.merge(address, 1, Integer::sum);
        if (open.put(connection, new Header(address)) == null) {
            count.add(1);
        }
        if (limits.connectionsPerAddress() > 0 && ofThis > limits.connectionsPerAddress()) {
            connection.close();
        }
        if (retired) {
            connection.getEndPoint().setIdleTimeout(LAST_MILLIS);
        }
    }

    @Override
    public void onClosed(Connection connection) {
        Header header = open.remove(connection);
        if (header == null) {
            return;
        }
        count.add(-1);
        if (header.address != null) {
            ofAddress.computeIfPresent(header.address, (key, others) -> others == 1 ? null : others - 1);
        }
    }

    private static InetAddress address(Connection connection) {
        return connection.getEndPoint().getRemoteSocketAddress() instanceof InetSocketAddress address
                ? address.getAddress()
                : null;
    }

    /// Notes that a request begins or ends to be answered.
    void busy(Connection connection, boolean is) {
        Header header = open.get(connection);
        if (header != null) {
            header.busy(is, connection.getBytesIn());
            if (retired) { // a client may leave its half open after the last answer
                connection.getEndPoint().setIdleTimeout(is ? limits.idleTime().toMillis() : LAST_MILLIS);
            }
        }
    }

    /// Ends the connections that are silent between two requests.
    void retire() {
        retired = true;
        open.forEach((connection, header) -> {
            if (!header.isBusy()) {
                connection.getEndPoint().setIdleTimeout(LAST_MILLIS);
            }
        });
    }

    /// {@return the open connections}
    Count count() {
        return count;
    }

    /// Closes the connections whose header is late.
    void closeLate() {
        long now = System.nanoTime();
        open.forEach((connection, header) -> {
            if (header.late(connection, now, limits.headerTime().toNanos())) {
                connection.getEndPoint().close();
            }
        });
    }
}
