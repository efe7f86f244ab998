package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Wrong input and broken surroundings, for each command of the distribution; `faults.txt` is the
/// table of them.
///
/// Each line of the table is run by a shell in a folder of its own. Asserted are the exit status, the
/// code or word of the message, that it is short and no stack trace, that nothing else is left in the
/// working, temporary and home folders and in the installation, and that every file that was there has
/// its old content.
///
/// Long: every line starts a JVM. What single commands do in such cases has tests in the first ring.
@Tag("long")
class FaultsIT {
    private static final int LIMIT_MINUTES = 5;
    private static final int MESSAGE_LINES = 3;
    /// Shortens a start: no C2, which says so in a line.
    private static final String FAST = "-XX:TieredStopAtLevel=1 ";

    private static final String WITHOUT_C2 = "WARN CpuVectorBackend - the JIT compiler is not HotSpot's C2: ";
    /// What `tenon itest` says every ten seconds, more often on a busy machine.
    private static final Pattern PROGRESS = Pattern.compile("\\d+ cases in \\d+ s; last .*");

    /// `full` runs a command whose standard output is a full device, `closed` one whose reader has
    /// gone.
    private static final String SHELL = """
            full() { "$@" >/dev/full; }
            closed() { mkfifo pipe; : <pipe & exec 3>pipe; wait $!; rm pipe; "$@" >&3; }
            """;

    /// A line of the table.
    ///
    /// @param kind `missing`, `garbage`, `full`, `closed`, `range` or `other`
    /// @param status exit status
    /// @param text code or word that standard error has, or `-` for none at all
    /// @param left names that are new afterwards
    /// @param line what the shell runs
    record Fault(String kind, int status, String text, Set<String> left, String line) {
        static Fault of(String row) {
            String[] columns = row.split("\\s+", 5);
            Set<String> left = columns[3].equals("-") ? Set.of() : Set.of(columns[3].split(","));
            return new Fault(columns[0], Integer.parseInt(columns[1]), columns[2], left, columns[4]);
        }
    }

    @TempDir
    static Path folder;

    private static final String PART = "split-00001-of-00002.gguf";
    private static final AtomicBoolean STALLED = new AtomicBoolean();
    private static final CountDownLatch END = new CountDownLatch(1);
    private static final BlockingQueue<Installation> FREE = new ArrayBlockingQueue<>(64);
    private static Path model;
    private static ExecutorService threads;
    private static HttpServer server;
    private static List<Fault> table;
    private static CommandsOfPage commands;

    @BeforeAll
    static void start() throws Exception {
        int atOnce = 2 * Runtime.getRuntime().availableProcessors(); // some wait, for time limits
        for (int i = 0; i < Math.min(atOnce, 8); i++) {
            Path parent = Files.createDirectory(folder.resolve("installation" + i));
            Installation installation = Installation.copy(parent);
            Files.createDirectories(installation.home().resolve("cache/running"));
            FREE.add(installation);
        }
        model = TinyModels.write("llama", folder.resolve("tiny.gguf"));
        threads = Executors.newFixedThreadPool(FREE.size());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", FaultsIT::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        Installation.Result page = FREE.element().tenon("help", "--markdown");
        assertEquals(0, page.code(), page.err());
        commands = CommandsOfPage.of(page.out());
        try (var in = FaultsIT.class.getResourceAsStream("/faults.txt")) {
            table = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(row -> !row.isBlank() && !row.startsWith("#"))
                    .map(Fault::of)
                    .toList();
        }
    }

    @AfterAll
    static void stop() {
        if (threads != null) {
            threads.shutdownNow();
        }
        END.countDown();
        if (server != null) {
            server.stop(0);
        }
    }

    /// `/m.gguf` is a model, `/garbage.gguf` is none, `/big.gguf` has 4 MiB, `/cut.gguf` ends in the middle each time,
    /// `/stall.gguf` stops in the middle the first time; of the two parts of `/split-…` and of the
    /// repository `org/split` there is one.
    private static void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        byte[] body = switch (path) {
            case "/m.gguf", "/cut.gguf", "/stall.gguf", "/" + PART -> Files.readAllBytes(model);
            case "/big.gguf" -> Arrays.copyOf(Files.readAllBytes(model), 4 << 20);
            case "/garbage.gguf" -> garbage();
            case "/api/models/org/split" ->
                ("{\"siblings\":[{\"rfilename\":\"" + PART + "\"}]}").getBytes(StandardCharsets.UTF_8);
            default -> new byte[0];
        };
        try (exchange) {
            exchange.sendResponseHeaders(body.length == 0 ? 404 : 200, body.length == 0 ? -1 : body.length);
            boolean stalls = path.equals("/stall.gguf") && STALLED.compareAndSet(false, true);
            int end = stalls || path.equals("/cut.gguf") ? body.length / 2 : body.length;
            exchange.getResponseBody().write(body, 0, end);
            exchange.getResponseBody().flush();
            if (stalls) {
                END.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] garbage() {
        byte[] bytes = new byte[4096];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    @Test
    void eachCommandHasALineOfEachKind() {
        assertTrue(commands.names().size() > 10, () -> "commands of the page: " + commands.names());
        List<String> without = new ArrayList<>();
        for (String command : commands.names()) {
            List<Fault> lines = table.stream()
                    .filter(fault ->
                            command.equals(commands.called(fault.line()).orElse("")))
                    .toList();
            List<String> kinds = new ArrayList<>(commands.kinds(command));
            if (lines.stream()
                    .anyMatch(fault ->
                            fault.kind().equals("full") && !fault.line().endsWith("--help"))) {
                kinds.add("closed");
            }
            for (String kind : kinds) {
                if (lines.stream().noneMatch(fault -> fault.kind().equals(kind))) {
                    without.add(kind + ": tenon " + command);
                }
            }
        }
        assertEquals(List.of(), without, "add lines of these kinds and commands to faults.txt");
    }

    @TestFactory
    Stream<DynamicTest> faults() {
        List<Fault> all = new ArrayList<>(table);
        for (String command :
                commands.names().stream().filter(name -> !name.contains(" ")).toList()) {
            all.add(new Fault("unknown", 2, "CLI-001", Set.of(), "tenon " + command + " --no-such-option"));
        }
        List<DynamicTest> tests = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            Fault fault = all.get(i);
            Path place = folder.resolve(Integer.toString(i));
            Future<Void> done = threads.submit(() -> {
                Installation installation = FREE.take();
                try {
                    check(fault, place, installation);
                } finally {
                    FREE.add(installation);
                }
                return null;
            });
            tests.add(DynamicTest.dynamicTest(fault.kind() + ": " + fault.line(), () -> {
                try {
                    done.get();
                } catch (ExecutionException e) {
                    throw e.getCause();
                }
            }));
        }
        return tests.stream();
    }

    private static void check(Fault fault, Path place, Installation installation) throws Exception {
        Path work = prepare(place);
        assumeTrue(!fault.line().contains(" node") || Files.exists(work.resolve("node")), "mknod is not possible here");
        assumeTrue(!fault.kind().equals("full") || Files.exists(Path.of("/dev/full")), "no /dev/full here");
        var before = new TreeMap<>(content(place, true));
        before.putAll(content(installation.home(), false));
        Path err = place.resolve("err");
        Path out = place.resolve("out");
        Process process = process(fault, place, installation)
                .redirectError(err.toFile())
                .redirectOutput(out.toFile())
                .start();
        process.outputWriter().close();
        if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            fail("it still ran after " + LIMIT_MINUTES + " minutes");
        }
        List<String> said = Files.readAllLines(err).stream()
                .filter(line ->
                        !line.startsWith(WITHOUT_C2) && !PROGRESS.matcher(line).matches())
                .toList();
        String all = String.join("\n", said);
        assertEquals(fault.status(), process.exitValue(), () -> "exit status; standard error: " + all);
        boolean silent = fault.text().equals("-");
        assertTrue(silent ? all.isEmpty() : all.contains(fault.text()), () -> "standard error: " + all);
        assertTrue(said.size() <= MESSAGE_LINES, () -> "standard error has " + said.size() + " lines: " + all);
        String printed = Files.readString(out, StandardCharsets.ISO_8859_1);
        for (String sign : List.of("\tat ", "CLI-003", "fatal error has been detected")) {
            assertFalse((all + printed).contains(sign), () -> "'" + sign + "' in: " + all + printed);
        }
        var after = new TreeMap<>(content(place, true));
        after.putAll(content(installation.home(), false));
        Set<String> left = new TreeSet<>(after.keySet());
        left.removeAll(before.keySet());
        assertEquals(new TreeSet<>(fault.left()), left, "what is new afterwards");
        after.keySet().removeAll(left);
        assertEquals(before, after, "files that were there");
    }

    private static ProcessBuilder process(Fault fault, Path place, Installation installation) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", SHELL + shell(fault));
        builder.directory(place.resolve("work").toFile());
        var environment = builder.environment();
        environment.keySet().removeIf(name -> name.startsWith("TENON_") || name.startsWith("XDG_"));
        environment.put("PATH", installation.home().resolve("bin") + ":" + environment.get("PATH"));
        environment.put("TENON_JAVA_HOME", System.getProperty("java.home"));
        environment.put(
                "TENON_JAVA_OPTS", FAST + Installation.startCache() + " -Djava.io.tmpdir=" + place.resolve("tmp"));
        environment.put("TENON_AOT", "off");
        environment.put("TENON_MODELS", place.resolve("models").toString());
        environment.put("TMPDIR", place.resolve("tmp").toString());
        environment.put("HOME", place.resolve("home").toString());
        environment.put("LC_ALL", "C.UTF-8");
        environment.put("INSTALLATION", installation.home().toString());
        environment.put("URL", "http://127.0.0.1:" + server.getAddress().getPort());
        return builder;
    }

    private static String shell(Fault fault) {
        boolean own = Set.of("full", "closed").contains(fault.kind());
        return own ? fault.line().replaceFirst("\\btenon\\b", fault.kind() + " tenon") : fault.line();
    }

    /// Makes the files that lines of the table name.
    private static Path prepare(Path place) throws Exception {
        for (String name : List.of("tmp", "home", "models", "work/folder")) {
            Files.createDirectories(place.resolve(name));
        }
        Path work = place.resolve("work");
        byte[] whole = Files.readAllBytes(model);
        Files.write(work.resolve("model.gguf"), whole);
        Files.write(work.resolve("cut.gguf"), Arrays.copyOf(whole, whole.length / 2));
        Files.write(work.resolve("garbage"), garbage());
        Files.writeString(work.resolve("old"), "old");
        Files.writeString(work.resolve("text"), "Once upon a time there was a fox. ".repeat(20));
        Files.createSymbolicLink(work.resolve("link"), Path.of("old"));
        new ProcessBuilder("mknod", work.resolve("node").toString(), "c", "1", "3")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        return work;
    }

    /// {@return what each file below a folder is, and holds if `whole`, else how long and old it is}
    private static TreeMap<String, String> content(Path top, boolean whole) throws IOException {
        TreeMap<String, String> content = new TreeMap<>();
        try (Stream<Path> files = Files.walk(top)) {
            for (Path file : files.toList()) {
                String name = top.relativize(file).toString();
                if (name.equals("out") || name.equals("err")) {
                    continue;
                }
                content.put((whole ? "" : "installation/") + name, held(file, whole));
            }
        }
        return content;
    }

    private static String held(Path file, boolean whole) throws IOException {
        if (Files.isSymbolicLink(file)) {
            return "link to " + Files.readSymbolicLink(file);
        }
        if (!Files.isRegularFile(file)) {
            return Files.isDirectory(file) ? "folder" : "device or pipe";
        }
        return whole
                ? Files.size(file) + " bytes, hash " + Arrays.hashCode(Files.readAllBytes(file))
                : Files.size(file) + " bytes of " + Files.getLastModifiedTime(file);
    }
}
