package dev.tenon.platform.cli.http;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;

/// Sends GET requests and follows redirects, without handing a token to another host.
public final class HttpGet implements AutoCloseable {
    private static final int MAX_REDIRECTS = 10;

    private final HttpClient client = HttpClient.newBuilder()
            .connectTimeout(Duration.ofSeconds(30))
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    private final String token;
    private final URI tokenHost;

    /// Creates a client.
    ///
    /// @param token access token, or null
    /// @param tokenHost the only host (scheme, name, port) that the token is for
    public HttpGet(String token, URI tokenHost) {
        this.token = token;
        this.tokenHost = tokenHost;
    }

    /// Sends a request. The caller closes the body.
    ///
    /// @param from where
    /// @param headers further headers
    /// @return the answer after redirects, of whatever status
    /// @throws IOException if there is no answer
    /// @throws TenonException (`IO-002`) if a redirect leads nowhere
    public HttpResponse<InputStream> send(URI from, Map<String, String> headers) throws IOException {
        URI uri = from;
        for (int i = 0; i <= MAX_REDIRECTS; i++) {
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60)).header("User-Agent", "tenon");
            headers.forEach(request::header);
            if (token != null && sameHost(uri, tokenHost)) {
                request.header("Authorization", "Bearer " + token);
            }
            HttpResponse<InputStream> response = send(request.build());
            if (!redirects(response.statusCode())) {
                return response;
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
            if (!"https".equals(uri.getScheme()) && !("http".equals(uri.getScheme()) && !isHttps(here))) {
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
        }
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
