package dev.tenon.platform.hub.http;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import javax.net.ssl.SSLException;

/// A request had no answer; the message says why, without a full stop.
public final class HttpFailure extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean unreachable;

    private HttpFailure(String text, boolean unreachable, Throwable cause) {
        super(text, cause);
        this.unreachable = unreachable;
    }

    /// {@return whether there was no connection, so that asking again soon is of little use}
    public boolean unreachable() {
        return unreachable;
    }

    /// {@return what happened to a request}
    ///
    /// @param uri what was asked for
    /// @param e what the client said
    /// @param seconds how long it waited
    static HttpFailure of(URI uri, IOException e, long seconds) {
        for (Throwable each = e; each != null; each = each.getCause()) {
            switch (each) {
                case UnresolvedAddressException _ -> {
                    return unknown(uri, e);
                }
                case UnknownHostException _ -> {
                    return unknown(uri, e);
                }
                case SSLException tls -> {
                    return new HttpFailure("no secure connection to " + uri.getHost() + ": " + reason(tls), true, e);
                }
                case HttpTimeoutException _ -> {
                    return new HttpFailure(
                            uri.getHost() + " did not answer in " + seconds + " s",
                            each instanceof HttpConnectTimeoutException,
                            e);
                }
                default -> {
                    // The cause may say more.
                }
            }
        }
        return e instanceof ConnectException
                ? new HttpFailure(uri.getAuthority() + " refused the connection", true, e)
                : new HttpFailure("the connection broke off: " + reason(e), false, e);
    }

    private static HttpFailure unknown(URI uri, IOException e) {
        return new HttpFailure("the host " + uri.getHost() + " is unknown", true, e);
    }

    private static String reason(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
