package dev.tenon.platform.bundles.repository;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bundles.repository.BundleRepositories.Fetched;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BundleRepositoriesTests {
    private static final String JAR = "/org/example/fast/1.2.0/fast-1.2.0.jar";
    private static final byte[] CONTENT = "not really a jar".getBytes(StandardCharsets.UTF_8);
    private static final Coordinates WANTED = Coordinates.parse("org.example:fast:1.2.0");

    @TempDir
    Path folder;

    private final Map<String, byte[]> files = new HashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private Path target;

    @BeforeEach
    void start() throws IOException {
        target = Files.createDirectory(folder.resolve("target"));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            asked.add(path);
            byte[] content = files.get(path);
            if (path.startsWith("/busy/")) {
                exchange.sendResponseHeaders(503, -1);
            } else if (content == null) {
                exchange.sendResponseHeaders(404, -1);
            } else if (path.startsWith("/cut/")) {
                exchange.sendResponseHeaders(200, content.length + 100L);
                exchange.getResponseBody().write(content);
            } else {
                exchange.sendResponseHeaders(200, content.length);
                exchange.getResponseBody().write(content);
            }
        }
    }

    private String url(String path) {
        return "http://" + server.getAddress().getHostString() + ":"
                + server.getAddress().getPort() + path;
    }

    private static String digest(String algorithm, byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private Fetched fetch(String repositories, Coordinates wanted) {
        return new BundleRepositories(repositories, false, filter -> !filter.contains("[9")).fetch(wanted, target);
    }

    private TenonException refused(String code, String repositories) {
        TenonException e = assertThrows(TenonException.class, () -> fetch(repositories, WANTED));
        assertEquals(code, e.code(), e.getMessage());
        return e;
    }

    @Test
    void aJarComesWithTheStrongestChecksumThatIsPublished() throws IOException {
        files.put(JAR, CONTENT);
        files.put(JAR + ".sha1", bytes(digest("SHA-1", CONTENT) + "  fast-1.2.0.jar\n"));
        Fetched weak = fetch(url("/"), WANTED);
        assertEquals("SHA-1 is right", weak.checked());
        assertArrayEquals(CONTENT, Files.readAllBytes(weak.file()));
        files.put(JAR + ".sha256", bytes(digest("SHA-256", CONTENT).toUpperCase()));
        assertEquals("SHA-256 is right", fetch(url(""), WANTED).checked());
    }

    @Test
    void aWrongOrMissingChecksumRefuses() {
        files.put(JAR, CONTENT);
        assertTrue(refused(ErrorCode.DOWNLOAD, url("/")).getMessage().contains("Nothing published beside"));
        files.put(JAR + ".sha1", bytes(digest("SHA-1", CONTENT)));
        files.put(JAR + ".sha256", bytes(digest("SHA-256", bytes("another"))));
        TenonException wrong = refused(ErrorCode.DOWNLOAD, url("/"));
        assertTrue(wrong.getMessage().contains(digest("SHA-256", CONTENT)), wrong.getMessage());
        assertTrue(wrong.getMessage().contains(digest("SHA-256", bytes("another"))), wrong.getMessage());
    }

    @Test
    void repositoriesAreAskedInTheirOrderUntilOneHasIt() {
        files.put("/second" + JAR, CONTENT);
        files.put("/second" + JAR + ".sha1", bytes(digest("SHA-1", CONTENT)));
        String all = url("/busy") + ", " + url("/first/") + " ," + url("/second");
        assertEquals(url("/second" + JAR), fetch(all, WANTED).from().toString());
        assertTrue(asked.contains("/first" + JAR), asked::toString);
    }

    @Test
    void whereNobodyHasItTheAnswerOfEachIsTold() throws IOException {
        server.stop(0);
        Path empty = Files.createDirectory(folder.resolve("empty"));
        TenonException e = refused(ErrorCode.BUNDLE_NOT_FOUND, url("/gone") + "," + empty + ",http://192.0.2.1/plain");
        assertTrue(e.getMessage().contains(url("/gone")), e.getMessage());
        assertTrue(e.getMessage().contains(empty.toUri() + ": has no org.example:fast:1.2.0"), e.getMessage());
        assertTrue(e.getMessage().contains("expected an https address"), e.getMessage());
    }

    @Test
    void anAnswerThatBreaksOffIsNoJar() {
        files.put("/cut" + JAR, CONTENT);
        TenonException e = refused(ErrorCode.BUNDLE_NOT_FOUND, url("/cut"));
        assertTrue(e.getMessage().contains(url("/cut/") + ": "), e.getMessage());
    }

    @Test
    void aFolderInMavensLayoutNeedsNoNetwork() throws IOException {
        Path jar = folder.resolve("my repository" + JAR);
        Files.createDirectories(jar.getParent());
        Files.write(jar, CONTENT);
        String repositories = url("/") + "," + folder.resolve("my repository");
        BundleRepositories offline = new BundleRepositories(repositories, true, filter -> true);
        assertEquals("no checksum is kept there", offline.fetch(WANTED, target).checked());
        Files.writeString(Path.of(jar + ".sha1"), digest("SHA-1", CONTENT));
        assertEquals("SHA-1 is right", offline.fetch(WANTED, target).checked());
        Files.writeString(Path.of(jar + ".sha1"), digest("SHA-1", bytes("another")));
        TenonException e = assertThrows(TenonException.class, () -> offline.fetch(WANTED, target));
        assertEquals(ErrorCode.DOWNLOAD, e.code());
        assertEquals(List.of(), asked);
    }

    private void index(String... resources) {
        files.put(
                "/index.xml",
                bytes("<?xml version='1.0'?><repository xmlns='http://www.osgi.org/xmlns/repository/v1.0.0'>"
                        + String.join("", resources) + "</repository>"));
    }

    private static String resource(String version, String sha256, String filter) {
        return """
                <resource>
                  <capability namespace='osgi.identity'>
                    <attribute name='osgi.identity' value='org.example.fast'/>
                    <attribute name='version' type='Version' value='%s'/>
                  </capability>
                  <capability namespace='osgi.content'>
                    <attribute name='osgi.content' value='%s'/>
                    <attribute name='url' value='jars/fast-%s.jar'/>
                  </capability>
                  <requirement namespace='osgi.wiring.package'>
                    <directive name='filter' value='%s'/>
                  </requirement>
                </resource>""".formatted(version, sha256, version, filter);
    }

    @Test
    void anIndexGivesTheHighestVersionThatFitsThePlatform() {
        String sha256 = digest("SHA-256", CONTENT);
        index(
                resource("1.9.0", sha256, "(a=[1)"),
                resource("1.10.0", sha256, "(a=[1)"),
                resource("2.0.0", sha256, "(a=[9)"));
        for (String version : List.of("1.9.0", "1.10.0", "2.0.0")) {
            files.put("/jars/fast-" + version + ".jar", CONTENT);
        }
        Fetched highest = fetch(url("/index.xml"), Coordinates.parse("org.example.fast"));
        assertEquals(url("/jars/fast-1.10.0.jar"), highest.from().toString());
        assertEquals("SHA-256 is right", highest.checked());
        Fetched asked = fetch(url("/index.xml"), Coordinates.parse("org.example.fast:1.9.0"));
        assertEquals(url("/jars/fast-1.9.0.jar"), asked.from().toString());
        TenonException e = assertThrows(
                TenonException.class, () -> fetch(url("/index.xml"), Coordinates.parse("org.example.fast:2.0.0")));
        assertEquals(ErrorCode.BUNDLE_NOT_FOUND, e.code());
        assertTrue(e.getMessage().contains("none for this platform; needed: [(a=[9)]"), e.getMessage());
    }

    @Test
    void aJarThatIsNotWhatItsIndexSaysIsRefused() {
        index(resource("1.0.0", digest("SHA-256", bytes("another")), "(a=[1)"));
        files.put("/jars/fast-1.0.0.jar", CONTENT);
        TenonException e = assertThrows(
                TenonException.class, () -> fetch(url("/index.xml"), Coordinates.parse("org.example.fast")));
        assertEquals(ErrorCode.DOWNLOAD, e.code());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<html>Please log in</html>",
                "no XML",
                "",
                "<!DOCTYPE repository [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><repository>&x;</repository>"
            })
    void whatIsNoIndexIsSaidToBeNone(String text) {
        files.put("/index.xml", bytes(text));
        TenonException e = assertThrows(
                TenonException.class, () -> fetch(url("/index.xml"), Coordinates.parse("org.example.fast")));
        assertEquals(ErrorCode.BUNDLE_NOT_FOUND, e.code());
        assertTrue(e.getMessage().contains("is not an index of an OSGi repository"), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:b:c:d", "a::1", ":", "", "a:../b:1", "a:b/c:1", "a:b:..", "no such file"})
    void otherWordsAreNoCoordinates(String text) {
        TenonException e = assertThrows(TenonException.class, () -> Coordinates.parse(text));
        assertEquals(ErrorCode.USAGE, e.code());
    }
}
