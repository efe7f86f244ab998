package dev.tenon.platform.server.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/// Accepts the connections of a listening channel that another connector may take over. Several may accept from one
/// channel; connections that come while none does wait in the system's queue.
final class ListeningConnector extends ServerConnector {
    private static final int WAITING = 1024;
    /// Seconds of silence before the first question, seconds between two, and how many without an answer.
    private static final Map<String, Integer> KEEP_ALIVE =
            Map.of("TCP_KEEPIDLE", 30, "TCP_KEEPINTERVAL", 10, "TCP_KEEPCOUNT", 3);

    private final InetSocketAddress address;
    /// Null before it is opened, unless it was given.
    private volatile ServerSocketChannel channel;
    private volatile Selector selector;
    private volatile boolean owned;

    /// @param address where it listens
    /// @param given a channel that listens there and stays its owner's, or null for one of its own
    ListeningConnector(
            Server server, InetSocketAddress address, ServerSocketChannel given, ConnectionFactory... factories) {
        super(server, 1, 1, factories);
        this.address = address;
        this.channel = given;
        this.owned = given == null;
    }

    @Override
    public void open() throws IOException {
        if (isOpen()) {
            return; // the server opens its connectors, then starts them, which opens them
        }
        if (channel == null) {
            channel = ServerSocketChannel.open();
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, WAITING);
        }
        channel.configureBlocking(false);
        selector = Selector.open();
        channel.register(selector, SelectionKey.OP_ACCEPT);
    }

    @Override
    public boolean isOpen() {
        return selector != null && selector.isOpen() && channel.isOpen();
    }

    @Override
    public int getLocalPort() {
        return channel.socket().getLocalPort();
    }

    /// {@return the channel}
    ServerSocketChannel channel() {
        return channel;
    }

    /// Sets whether the channel is closed with the connector.
    void own(boolean is) {
        owned = is;
    }

    @Override
    public void accept(int acceptor) throws IOException {
        selector.select();
        selector.selectedKeys().clear();
        for (SocketChannel next = channel.accept(); next != null; next = channel.accept()) {
            next.configureBlocking(false);
            configure(next.socket());
            askWhetherThere(next);
            getSelectorManager().accept(next);
        }
    }

    /// Has the system notice a client whose host has vanished, within a minute where it can be told so; else after
    /// hours.
    private static void askWhetherThere(SocketChannel connection) throws IOException {
        connection.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        for (SocketOption<?> option : connection.supportedOptions()) {
            Integer value = KEEP_ALIVE.get(option.name());
            if (value != null) {
                connection.setOption(number(option), value);
            }
        }
    }

    @SuppressWarnings("unchecked") // each of the names is of a number
    private static SocketOption<Integer> number(SocketOption<?> option) {
        return (SocketOption<Integer>) option;
    }

    /// Accepts no more; the connections that there are go on.
    void stopAccepting() throws IOException {
        selector.close();
    }

    @Override
    public void close() {
        super.close();
        try {
            if (selector != null) {
                selector.close();
            }
            if (owned && channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
