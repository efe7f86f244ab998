package dev.tenon.platform.server.media;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MediaUrlsTests {
    private static final byte[] FILE = new byte[20_000];
    private static final AtomicInteger ASKED = new AtomicInteger();

    private static HttpServer web;
    private static String here;

    @BeforeAll
    static void start() throws IOException {
        web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        here = "127.0.0.1:" + web.getAddress().getPort();
        web.createContext("/", exchange -> {
            ASKED.incrementAndGet();
            String to = exchange.getRequestURI().getQuery();
            if (to != null) {
                exchange.getResponseHeaders().set("Location", to);
            }
            int status = to != null ? 302 : exchange.getRequestURI().getPath().equals("/file") ? 200 : 404;
            exchange.sendResponseHeaders(status, status == 200 ? FILE.length : -1);
            try (exchange) {
                if (status == 200) {
                    exchange.getResponseBody().write(FILE);
                }
            }
        });
        web.start();
    }

    @AfterAll
    static void stop() {
        web.stop(0);
    }

    private static MediaUrls hosts(String... hosts) {
        return new MediaUrls(List.of(hosts), null);
    }

    private static String refused(MediaUrls urls, String url) {
        int before = ASKED.get();
        String why = assertThrows(IOException.class, () -> urls.read(url, FILE.length))
                .getMessage();
        assertTrue(ASKED.get() - before <= 1, "a target that is refused is not asked");
        return why;
    }

    @Test
    void filesOfListedHostsAreRead() throws IOException {
        assertArrayEquals(FILE, hosts("example.org", here).read("http://" + here + "/file", FILE.length));
        assertArrayEquals(FILE, hosts(here).read("HTTP://" + here + "/?/file", FILE.length));
        assertTrue(hosts(here).read("http://" + here + "/file", 100).length > 100, "one more byte, or a few");
    }

    @Test
    void othersAreNot() {
        int before = ASKED.get();
        String port = here.substring(here.indexOf(':'));
        assertTrue(refused(hosts("127.0.0.1"), "http://" + here + "/file").contains("none of the hosts"));
        assertTrue(refused(MediaUrls.NONE, "https://example.org/a.png").contains("none of the hosts"));
        assertTrue(refused(hosts("*.example.org"), "https://example.org/").contains("none of the hosts"));
        assertTrue(refused(hosts("*.example.org"), "https://badexample.org/").contains("none of the hosts"));
        assertTrue(refused(hosts("*.0.0.1" + port), "http://" + here + "/file").contains("not public"));
        assertTrue(refused(hosts("localhost" + port), "http://localhost" + port + "/file")
                .contains("not public"));
        assertTrue(refused(hosts(here), "ftp://" + here + "/file").contains("no URL of http"));
        assertTrue(refused(hosts(here), "a picture").contains("no URL"));
        assertEquals(before, ASKED.get());
        assertTrue(refused(hosts(here), "http://" + here + "/none").contains("status 404"));
        assertTrue(refused(hosts(here), "http://" + here + "/?http://localhost" + port + "/file")
                .contains("none of the hosts"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://example.org", "example.org/", "*", "*.*.org", "a b", "[::1", "-"})
    void whatIsNoHostIsRefused(String host) {
        assertEquals(
                ErrorCode.CONFIG,
                assertThrows(TenonException.class, () -> hosts(host)).code());
    }

    @Test
    void publicAddressesAreTold() throws IOException {
        for (String address : List.of("93.184.215.14", "100.128.0.1", "172.32.0.1", "2606:2800:21f::1")) {
            assertTrue(MediaUrls.isPublic(InetAddress.getByName(address)), address);
        }
        for (String address : List.of(
                "127.0.0.1",
                "10.0.0.1",
                "172.16.0.1",
                "192.168.1.1",
                "169.254.169.254",
                "100.64.0.1",
                "0.0.0.0",
                "0.1.2.3",
                "224.0.0.1",
                "255.255.255.255",
                "::1",
                "::",
                "fe80::1",
                "fd00::1",
                "ff02::1",
                "::ffff:127.0.0.1",
                "64:ff9b::7f00:1")) {
            assertTrue(!MediaUrls.isPublic(InetAddress.getByName(address)), address);
        }
    }

    @Test
    void filesOfTheFolderAreRead(@TempDir Path folder) throws IOException {
        Path inside = Files.createDirectory(folder.resolve("inside"));
        Files.write(inside.resolve("a b+c.png"), FILE);
        Files.write(folder.resolve("secret.png"), FILE);
        Files.createSymbolicLink(inside.resolve("link.png"), folder.resolve("secret.png"));
        MediaUrls urls = new MediaUrls(List.of(), inside);
        for (String url :
                List.of("file:a%20b+c.png", "FILE://a b+c.png", "file://" + inside.toRealPath() + "/a%20b+c.png")) {
            assertArrayEquals(FILE, urls.read(url, FILE.length), url);
        }
        assertEquals(101, urls.read("file:a b+c.png", 100).length);
        for (String url : List.of(
                "file:none.png",
                "file:../secret.png",
                "file:..%2Fsecret.png",
                "file:link.png",
                "file:",
                "file:%zz",
                "file:%00",
                "file://" + folder + "/secret.png")) {
            assertTrue(refused(urls, url).contains("no such file"), url);
        }
        assertTrue(refused(MediaUrls.NONE, "file:a.png").contains("serve.media-folder"));
    }
}
