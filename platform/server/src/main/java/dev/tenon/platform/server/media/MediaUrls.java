package dev.tenon.platform.server.media;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/// The files that requests may name by URL: on some hosts, and in a folder. Immutable; safe for any thread.
///
/// @param hosts names of hosts or addresses, with port unless it is that of the scheme; `*.` before a name is for all
///     names below it
/// @param folder the folder, or null
public record MediaUrls(List<String> hosts, Path folder) {
    /// No files.
    public static final MediaUrls NONE = new MediaUrls(List.of(), null);

    private static final Pattern HOST =
            Pattern.compile("((\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:.]+])(:\\d{1,5})?");
    private static final Pattern ADDRESS = Pattern.compile("[\\d.]+|\\[.*");
    private static final Pattern FILE = Pattern.compile("(?i)file:(//)?");
    private static final Duration SILENCE = Duration.ofSeconds(10);
    private static final long MOST_NANOS = Duration.ofSeconds(30).toNanos();

    /// Checks and copies.
    ///
    /// @throws TenonException (`CFG-001`) if a host is none
    public MediaUrls {
        hosts = hosts.stream().map(host -> host.toLowerCase(Locale.ROOT)).toList();
        for (String host : hosts) {
            if (!HOST.matcher(host).matches()) {
                throw new TenonException(
                        ErrorCode.CONFIG,
                        "serve.media-urls has '" + host
                                + "'; expected hosts such as example.org, *.example.org or 192.0.2.7:8080.");
            }
        }
    }

    /// {@return the content of a file}
    ///
    /// @param url the URL
    /// @param most most bytes; one more is returned of a file that has more
    /// @throws IOException if it is not read; the message says why, without a full stop
    byte[] read(String url, int most) throws IOException {
        if (FILE.matcher(url).lookingAt()) {
            return file(url, most);
        }
        try {
            URI given = new URI(url);
            String scheme = given.getScheme() == null ? "" : given.getScheme().toLowerCase(Locale.ROOT);
            if (!scheme.matches("https?") || given.getHost() == null) {
                throw new IOException("it is no URL of http or https");
            }
            return fetched(new URI(scheme + ":" + given.getRawSchemeSpecificPart()), most);
        } catch (URISyntaxException e) {
            throw new IOException("it is no URL: " + e.getReason(), e);
        } catch (TenonException e) {
            throw new IOException(e.text(), e);
        }
    }

    private byte[] fetched(URI uri, int most) throws IOException {
        long begin = System.nanoTime();
        try (HttpGet get = new HttpGet(Map.of(), null, SILENCE, this::check);
                HttpGet.Answer answer = get.send(uri, Map.of())) {
            if (answer.status() != 200) {
                throw new IOException(uri.getHost() + " answers with status " + answer.status());
            }
            ByteArrayOutputStream file = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            InputStream body = answer.body();
            for (int read = body.read(buffer); read >= 0 && file.size() <= most; read = body.read(buffer)) {
                file.write(buffer, 0, read);
                if (System.nanoTime() - begin > MOST_NANOS) {
                    throw new IOException(uri.getHost() + " sends it too slowly");
                }
            }
            return file.toByteArray();
        }
    }

    /// Refuses what is not on a host of the list, or is on one whose address is not public. The client connects to what
    /// is looked up here, as the JVM keeps addresses for half a minute.
    private void check(URI uri) throws IOException {
        String host = uri.getHost().toLowerCase(Locale.ROOT);
        boolean standard =
                uri.getPort() < 0 || uri.getPort() == (uri.getScheme().equals("https") ? 443 : 80);
        String wanted = standard ? host : host + ":" + uri.getPort();
        if (hosts.stream().noneMatch(each -> names(each, wanted))) {
            throw new IOException(wanted + " is none of the hosts of serve.media-urls");
        }
        if (ADDRESS.matcher(host).matches() && hosts.contains(wanted)) {
            return;
        }
        for (InetAddress address : InetAddress.getAllByName(host)) {
            if (!isPublic(address)) {
                throw new IOException(host + " has an address that is not public; the list would have to name it");
            }
        }
    }

    private static boolean names(String listed, String wanted) {
        return listed.startsWith("*.") ? wanted.endsWith(listed.substring(1)) : wanted.equals(listed);
    }

    static boolean isPublic(InetAddress address) {
        if (address.isLoopbackAddress()
                || address.isAnyLocalAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress()) {
            return false;
        }
        byte[] bytes = address.getAddress();
        int first = bytes[0] & 0xff;
        int second = bytes[1] & 0xff;
        return bytes.length == 4
                ? first != 0 && first < 240 && !(first == 100 && second >> 6 == 1) // this net, reserved, carriers' own
                : (first & 0xfe) != 0xfc && !(first == 0 && second == 0x64); // local, IPv4 behind a translator
    }

    private byte[] file(String url, int most) throws IOException {
        if (folder == null) {
            throw new IOException("files are not read, as serve.media-folder names no folder");
        }
        try {
            String name = FILE.matcher(url).replaceFirst("").replace("+", "%2B");
            Path file = folder.resolve(URLDecoder.decode(name, StandardCharsets.UTF_8))
                    .toRealPath();
            if (file.startsWith(folder.toRealPath()) && Files.isRegularFile(file)) {
                try (InputStream in = Files.newInputStream(file)) {
                    return in.readNBytes(most + 1);
                }
            }
        } catch (IOException | IllegalArgumentException e) { // no name of a file
            throw new IOException("there is no such file in serve.media-folder", e);
        }
        throw new IOException("there is no such file in serve.media-folder");
    }
}
