package dev.tenon.platform.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tenon.platform.server.auth.ApiKeys;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// The page's files and end points, without a browser.
class PageTests {
    private static final Path SOURCE = Path.of("src/main/resources/dev/tenon/platform/server/page");
    private static final long MOST_BYTES = 400_000;
    private static final String JAR = "application/java-archive";
    private static final StubBundles BUNDLES = new StubBundles();

    private static ServerFixture server;

    @BeforeAll
    static void start() {
        server = new ServerFixture(b -> b.bundles(() -> BUNDLES));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static List<Path> files() throws Exception {
        try (Stream<Path> all = Files.walk(SOURCE)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    /// {@return the page, as browsers ask for it}
    private static HttpResponse<String> page() throws Exception {
        return server.send(HttpRequest.newBuilder(server.uri("/")).header("Accept", "text/html,*/*"));
    }

    /// {@return the paths of files that the page names}
    private static List<String> paths() throws Exception {
        Matcher matcher = Pattern.compile("(?:src|href)=\"(/page/[^\"]+)\"").matcher(page().body());
        return matcher.results().map(result -> result.group(1)).distinct().toList();
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static HttpResponse<String> install(String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(server.uri("/tenon/bundles/install"))
                .header("Content-Type", JAR)
                .POST(BodyPublishers.ofString(body));
        return server.send(headers.length == 0 ? request : request.headers(headers));
    }

    @Test
    void thePageMayDoNothingButWhatItNeeds() throws Exception {
        HttpResponse<String> page = page();
        assertEquals(200, page.statusCode());
        assertEquals("text/html; charset=utf-8", header(page, "Content-Type"));
        String policy = header(page, "Content-Security-Policy");
        assertTrue(policy.startsWith("default-src 'none'; script-src 'self'; style-src 'self';"), policy);
        for (String part : List.of(
                "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for")) {
            assertTrue(policy.contains(part), policy);
        }
        String rest = policy.replace("img-src 'self' data:;", "");
        assertFalse(rest.contains("unsafe") || rest.contains("http") || rest.contains("data:"), policy);
        assertEquals("DENY", header(page, "X-Frame-Options"));
        assertEquals("nosniff", header(page, "X-Content-Type-Options"));
        assertEquals("no-referrer", header(page, "Referrer-Policy"));
    }

    @Test
    void filesAreKeptForEverAndThePageIsNot() throws Exception {
        List<String> paths = paths();
        assertTrue(paths.size() >= 5, paths::toString);
        for (String path : paths) {
            HttpResponse<String> file = server.get(path);
            assertEquals(200, file.statusCode(), path);
            assertEquals("public, max-age=31536000, immutable", header(file, "Cache-Control"), path);
            assertFalse(header(file, "Content-Security-Policy").isEmpty(), path);
            String type =
                    path.endsWith(".js") ? "text/javascript" : path.endsWith(".css") ? "text/css" : "image/svg+xml";
            assertTrue(header(file, "Content-Type").startsWith(type), path);
        }
        HttpResponse<String> page = page();
        assertEquals("no-cache", header(page, "Cache-Control"));
        HttpResponse<String> same = server.send(HttpRequest.newBuilder(server.uri("/"))
                .headers("Accept", "text/html", "If-None-Match", header(page, "ETag")));
        assertEquals(304, same.statusCode());
        assertEquals("", same.body());
    }

    @Test
    void filesComeCompressedToThoseWhoTakeThem() throws Exception {
        String path = paths().stream()
                .filter(each -> each.endsWith("app.js"))
                .findFirst()
                .orElseThrow();
        HttpResponse<byte[]> zipped = server.client.send(
                HttpRequest.newBuilder(server.uri(path))
                        .header("Accept-Encoding", "gzip, br")
                        .build(),
                BodyHandlers.ofByteArray());
        assertEquals("gzip", header(zipped, "Content-Encoding"));
        assertEquals("Accept, Accept-Encoding", header(zipped, "Vary"));
        try (GZIPInputStream in = new GZIPInputStream(new java.io.ByteArrayInputStream(zipped.body()))) {
            assertArrayEquals(Files.readAllBytes(SOURCE.resolve("app.js")), in.readAllBytes());
        }
        assertEquals("", header(server.get(path), "Content-Encoding"));
    }

    @Test
    void otherPathsAreNotFound() throws Exception {
        String folder = paths().getFirst().replaceFirst("[^/]+$", "");
        for (String path : List.of(
                "/page/",
                "/page/x",
                "/page/0000000000000000/app.js",
                folder + "none.js",
                folder + "files.txt",
                folder + "PageFiles.class",
                folder + "lib")) {
            assertEquals(404, server.get(path).statusCode(), path);
        }
        assertEquals(405, server.post("/", "{}").statusCode());
    }

    @Test
    void allIsSmall() throws Exception {
        long bytes = 0;
        for (Path file : files()) {
            bytes += Files.size(file);
        }
        assertTrue(bytes <= MOST_BYTES, "bytes: " + bytes);
    }

    @Test
    void theListNamesAllFiles() throws Exception {
        TreeSet<String> names = new TreeSet<>();
        for (Path file : files()) {
            names.add(SOURCE.relativize(file).toString());
        }
        names.remove("files.txt");
        assertEquals(List.copyOf(names), Files.readAllLines(SOURCE.resolve("files.txt")));
    }

    @Test
    void librariesAreThoseOfTheirVersions() throws Exception {
        TreeSet<String> named = new TreeSet<>();
        for (String line : Files.readAllLines(SOURCE.resolve("lib/libraries.txt"))) {
            String[] words = line.split(" ");
            byte[] bytes = Files.readAllBytes(SOURCE.resolve("lib").resolve(words[0]));
            assertEquals(
                    words[words.length - 1],
                    HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)),
                    words[0]);
            named.add(words[0]);
        }
        TreeSet<String> there = new TreeSet<>();
        for (Path file : files()) {
            String name = SOURCE.relativize(file).toString();
            if (name.startsWith("lib/") && !name.endsWith(".txt")) {
                there.add(name.substring(4));
            }
        }
        assertEquals(there, named);
    }

    @Test
    void ourOwnCodeMakesNoMarkupFromTexts() throws Exception {
        Pattern wrong = Pattern.compile("innerHTML|outerHTML|insertAdjacent|document\\.write|eval\\(|new Function|"
                + "setAttribute\\(\"(style|on)|localStorage\\.setItem\\(KEY|https?://(?!www\\.w3\\.org)");
        for (Path file : files()) {
            String name = SOURCE.relativize(file).toString();
            if (!name.startsWith("lib/") && name.endsWith(".js")) {
                Matcher matcher = wrong.matcher(Files.readString(file));
                assertFalse(matcher.find(), () -> name + ": " + matcher.group());
            }
        }
        String index = Files.readString(SOURCE.resolve("index.html"));
        assertFalse(Pattern.compile("<style|style=|<script>| on\\w+=|https?://")
                .matcher(index)
                .find());
    }

    @Test
    void thePageIsOpenAndWhatItShowsNeedsAKey() throws Exception {
        try (ServerFixture closed =
                new ServerFixture(b -> b.keys(ApiKeys.of(List.of("key"))).bundles(() -> BUNDLES))) {
            assertEquals(200, closed.get("/").statusCode());
            for (String path : List.of("/tenon/status", "/tenon/platform")) {
                assertEquals(401, closed.get(path).statusCode(), path);
            }
            assertEquals(
                    401,
                    closed.post("/tenon/bundles/remove", "{\"name\":\"x\"}").statusCode());
            HttpResponse<String> known = closed.send(
                    HttpRequest.newBuilder(closed.uri("/tenon/status")).header("Authorization", "Bearer key"));
            assertEquals(200, known.statusCode());
            assertTrue(ServerFixture.json(known.body()).at("/manage/allowed").asBoolean());
        }
    }

    @Test
    void theStatusTellsModelsQueueAndCache() throws Exception {
        server.answer("/v1/completions", "{\"prompt\":\"Once upon a time\",\"max_tokens\":3}");
        JsonNode status = ServerFixture.json(server.get("/tenon/status").body());
        assertTrue(status.get("ready").asBoolean());
        assertEquals("tenon:", status.get("metrics_prefix").asText());
        assertTrue(status.at("/manage/allowed").asBoolean()
                && status.at("/manage/bundles").asBoolean());
        assertTrue(status.at("/manage/models").asBoolean());
        assertTrue(status.at("/heap/used_bytes").asLong() > 0);
        JsonNode model = status.at("/models/0");
        assertEquals("story", model.get("name").asText());
        assertTrue(model.get("loaded").asBoolean());
        assertEquals(512, model.get("context_length").asInt());
        assertEquals(0, model.get("running").asInt() + model.get("waiting").asInt());
        assertTrue(
                model.get("file_bytes").asLong() > 0 && model.at("/cache/pages").asInt() > 0);
    }

    @Test
    void thePlatformTellsBackendsAndBundles() throws Exception {
        JsonNode platform = ServerFixture.json(server.get("/tenon/platform").body());
        JsonNode cpu = platform.get("backends")
                .valueStream()
                .filter(backend -> backend.get("id").asText().equals("cpu-vector"))
                .findFirst()
                .orElseThrow();
        assertTrue(cpu.get("available").asBoolean());
        assertFalse(cpu.at("/devices/0/name").asText().isEmpty());
        assertTrue(platform.get("formats").toString().contains("\"Q4_K\""));
        assertTrue(platform.get("architectures").toString().contains("\"qwen3\""));
        assertEquals("org.example.format", platform.at("/bundles/1/name").asText());
    }

    @Test
    void aBundleIsInstalledAndRemoved() throws Exception {
        HttpResponse<String> done = install("a jar");
        assertEquals(200, done.statusCode(), done.body());
        assertEquals(
                "org.example.format 1.2.0 was installed",
                ServerFixture.json(done.body()).get("done").asText());
        assertEquals("a jar", new String(BUNDLES.installed(), java.nio.charset.StandardCharsets.UTF_8));
        assertFalse(Files.exists(BUNDLES.file()), "the upload is deleted");
        JsonNode removed = server.answer("/tenon/bundles/remove", "{\"name\":\"org.example.format\"}");
        assertTrue(removed.get("done").asText().endsWith("was removed"));
        JsonNode why = server.answer("/tenon/bundles/why", "{\"model\":\"story\"}");
        assertEquals("cpu-vector", why.at("/choices/0/candidates/0/name").asText());
    }

    @Test
    void aChangeThatTakesLongIsFollowed() throws Exception {
        HttpResponse<String> begun = install("slow");
        assertEquals(202, begun.statusCode());
        String path = "/tenon/bundles/changes/"
                + ServerFixture.json(begun.body()).get("change").asText();
        assertEquals(202, server.get(path).statusCode());
        BUNDLES.release();
        HttpResponse<String> done = server.get(path);
        while (done.statusCode() == 202) {
            done = server.get(path);
        }
        assertEquals(200, done.statusCode());
        assertFalse(ServerFixture.json(done.body()).get("done").asText().isEmpty());
        assertEquals(404, server.get("/tenon/bundles/changes/other").statusCode());
    }

    @Test
    void whatTheManagerRefusesIsAConflict() throws Exception {
        HttpResponse<String> refused = install("broken");
        assertEquals(409, refused.statusCode());
        JsonNode error = ServerFixture.json(refused.body()).get("error");
        assertEquals("BUNDLE-001", error.get("code").asText());
        assertTrue(error.get("message").asText().startsWith("The file is no jar"), refused.body());
    }

    @Test
    void requestsForChangesHaveTheRightForm() throws Exception {
        for (String body : List.of("{}", "{\"name\":1}", "{\"name\":\"x\",\"other\":1}")) {
            assertEquals(400, server.post("/tenon/bundles/remove", body).statusCode(), body);
        }
        assertEquals(
                404, server.post("/tenon/bundles/why", "{\"model\":\"none\"}").statusCode());
        assertEquals(404, server.post("/tenon/bundles/other", "{}").statusCode());
        HttpRequest.Builder plain = HttpRequest.newBuilder(server.uri("/tenon/bundles/install"))
                .header("Content-Type", "text/plain")
                .POST(BodyPublishers.ofString("a jar"));
        assertEquals(415, server.send(plain).statusCode());
        assertEquals(405, server.get("/tenon/bundles/install").statusCode());
    }

    @Test
    void pagesOfOtherOriginsChangeNothing() throws Exception {
        for (String[] headers : new String[][] {
            {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
            {"Origin", "https://evil.example"}, {"Origin", "null"},
        }) {
            HttpResponse<String> refused = install("a jar", headers);
            assertEquals(403, refused.statusCode(), headers[1]);
            assertEquals(
                    "other_origin",
                    ServerFixture.json(refused.body()).at("/error/code").asText());
        }
        assertEquals(200, install("a jar", "Sec-Fetch-Site", "same-origin").statusCode());
        assertEquals(200, install("a jar", "Origin", server.server.address()).statusCode());
    }

    @Test
    void whereOthersNeedNoKeyNothingIsChanged() throws Exception {
        try (ServerFixture open = new ServerFixture(
                b -> b.host("0.0.0.0").withoutKey(true).manage(true).bundles(() -> BUNDLES))) {
            JsonNode status = ServerFixture.json(open.send(HttpRequest.newBuilder(
                            java.net.URI.create("http://127.0.0.1:" + open.server.port() + "/tenon/status")))
                    .body());
            assertFalse(status.at("/manage/allowed").asBoolean());
            java.net.URI uri = java.net.URI.create("http://127.0.0.1:" + open.server.port() + "/tenon/bundles/remove");
            HttpResponse<String> refused = open.send(HttpRequest.newBuilder(uri)
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"name\":\"x\"}")));
            assertEquals(403, refused.statusCode());
            assertEquals(
                    "management_off",
                    ServerFixture.json(refused.body()).at("/error/code").asText());
        }
    }

    @Test
    void withoutAFrameworkThereAreNoBundles() throws Exception {
        try (ServerFixture plain = new ServerFixture()) {
            assertFalse(ServerFixture.json(plain.get("/tenon/status").body())
                    .at("/manage/bundles")
                    .asBoolean());
            assertFalse(ServerFixture.json(plain.get("/tenon/platform").body()).has("bundles"));
            assertEquals(
                    501,
                    plain.post("/tenon/bundles/why", "{\"model\":\"story\"}").statusCode());
        }
    }
}
