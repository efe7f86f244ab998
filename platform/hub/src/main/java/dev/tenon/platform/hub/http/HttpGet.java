package dev.tenon.platform.hub.http;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/// Sends GET requests and follows redirects, without handing secrets to another host.
public final class HttpGet implements AutoCloseable {
    private static final int MAX_REDIRECTS = 10;

    /// How long a server may be silent.
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient client;
    private final Map<String, String> secrets;
    private final URI host;
    private final Duration timeout;
    private final Check check;

    /// Says what may be asked for.
    @FunctionalInterface
    public interface Check {
        /// Looks at an address before it is asked, also at that of a redirect.
        ///
        /// @param uri the address
        /// @throws IOException if it may not be asked; the message says why, without a full stop
        void check(URI uri) throws IOException;
    }

    /// Creates a client.
    ///
    /// @param secrets headers such as `Authorization`
    /// @param host the only host (scheme, name, port) that they are for; null if there are none
    /// @param timeout how long a server may be silent, before its answer and within it
    public HttpGet(Map<String, String> secrets, URI host, Duration timeout) {
        this(secrets, host, timeout, uri -> {});
    }

    /// Creates a client that does not ask everyone.
    ///
    /// @param secrets headers such as `Authorization`
    /// @param host the only host (scheme, name, port) that they are for; null if there are none
    /// @param timeout how long a server may be silent, before its answer and within it
    /// @param check says which addresses may be asked
    public HttpGet(Map<String, String> secrets, URI host, Duration timeout, Check check) {
        this.check = check;
        this.secrets = secrets;
        this.host = host;
        this.timeout = timeout;
        client = HttpClient.newBuilder()
                .connectTimeout(timeout)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /// An answer after redirects. Whoever asked closes it.
    ///
    /// @param status HTTP status
    /// @param headers headers
    /// @param length length of the body, or -1 when not told
    /// @param body fails where it ends early or nothing comes for too long
    public record Answer(int status, HttpHeaders headers, long length, InputStream body) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            body.close();
        }
    }

    /// Sends a request.
    ///
    /// @param from where: an `http` or `https` address with a host
    /// @param headers further headers
    /// @return the answer after redirects, of whatever status; the caller closes it
    /// @throws HttpFailure if there is no answer
    /// @throws IOException if it may not be asked
    /// @throws TenonException (`IO-002`) if a redirect leads nowhere
    public Answer send(URI from, Map<String, String> headers) throws IOException {
        URI uri = from;
        for (int i = 0; i <= MAX_REDIRECTS; i++) {
            check.check(uri);
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(uri).timeout(timeout).header("User-Agent", "tenon");
            headers.forEach(request::header);
            if (host != null && sameHost(uri, host)) {
                secrets.forEach(request::header);
            }
            HttpResponse<InputStream> response = send(request.build());
            if (!redirects(response.statusCode())) {
                long length = length(response.headers());
                return new Answer(
                        response.statusCode(),
                        response.headers(),
                        length,
                        new TimedBody(response.body(), length, timeout));
            }
            response.body().close();
            URI here = uri;
            String location = response.headers()
                    .firstValue("Location")
                    .orElseThrow(() -> failed("The redirect of " + here + " has no target."));
            try {
                uri = here.resolve(location);
            } catch (IllegalArgumentException e) {
                throw failed("The redirect of " + here + " has a bad target: " + location + ".");
            }
            if (uri.getHost() == null
                    || !"https".equals(uri.getScheme()) && !("http".equals(uri.getScheme()) && !isHttps(here))) {
                throw failed("The redirect of " + here + " leads to " + uri + "; expected https.");
            }
        }
        throw failed(from + " redirects more than " + MAX_REDIRECTS + " times.");
    }

    private HttpResponse<InputStream> send(HttpRequest request) throws IOException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + request.uri());
        } catch (IllegalArgumentException e) {
            // What the client throws for some headers that are wrong.
            throw new IOException("the answer is not understood: " + e.getMessage(), e);
        } catch (IOException e) {
            throw HttpFailure.of(request.uri(), e, Math.ceilDiv(timeout.toMillis(), 1000));
        }
    }

    private static long length(HttpHeaders headers) throws IOException {
        String length = headers.firstValue("Content-Length").orElse("-1").strip();
        if (!length.matches("-1|\\d{1,18}")) {
            throw new IOException("the answer's length is '" + length + "'; expected a number");
        }
        return Long.parseLong(length);
    }

    /// {@return whether a host is this machine itself}
    ///
    /// @param uri an address
    /// @throws UnknownHostException if there is no such host
    public static boolean isThisMachine(URI uri) throws UnknownHostException {
        return uri.getHost() != null && InetAddress.getByName(uri.getHost()).isLoopbackAddress();
    }

    private static boolean isHttps(URI uri) {
        return "https".equals(uri.getScheme());
    }

    private static boolean redirects(int status) {
        return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    }

    private static boolean sameHost(URI a, URI b) {
        return a.getScheme().equals(b.getScheme())
                && a.getHost() != null
                && a.getHost().equalsIgnoreCase(b.getHost())
                && a.getPort() == b.getPort();
    }

    private static TenonException failed(String text) {
        return new TenonException(ErrorCode.DOWNLOAD, text);
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
