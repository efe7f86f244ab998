package dev.tenon.platform.cli.pull;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.cli.main.TestCli;
import dev.tenon.platform.hub.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Downloads from a server that does everything wrong: what comes out is the right file or an error.
class FaultyServerTests {
    private static final byte[] FIRST = TestGguf.model(8_000, 1);
    private static final byte[] SECOND = TestGguf.model(8_000, 2);

    @TempDir
    Path folder;

    private final AtomicInteger right = new AtomicInteger();

    @Test
    void theRightFileOrAnError() throws Exception {
        rounds(0, 50);
    }

    /// Long, as each fault that is noticed by waiting takes its time.
    @Tag("long")
    @Test
    void theRightFileOrAnErrorInAThousandRounds() throws Exception {
        rounds(1000, 1000);
        int n = right.get();
        assertTrue(n > 300 && n < 1000, n + " of 1000 downloads succeeded");
    }

    private void rounds(long seed, int rounds) throws Exception {
        // Most of a round is waiting.
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < rounds; i++) {
                String name = "round " + i + " of seed " + seed;
                Random random = new Random(seed + i);
                all.add(threads.submit(() -> round(random, name)));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    private Void round(Random random, String name) throws Exception {
        Path home = Files.createDirectory(folder.resolve(name.replace(' ', '-')));
        TestCli cli = new TestCli(home);
        Files.delete(cli.model);
        cli.stall = Duration.ofMillis(60);
        cli.pause = Duration.ofMillis(1);
        Path target = home.resolve("m.gguf");
        try (FaultyServer server = new FaultyServer(random, FIRST, SECOND)) {
            String url = server.url("/m.gguf");
            boolean checksum = random.nextInt(4) == 0;
            if (random.nextInt(3) == 0) {
                leftover(random, target, url);
            }
            String[] args = {"pull", url, "-o", target.toString(), "--sha256", sha256(FIRST)};
            TestCli.Result result = cli.run(checksum ? args : Arrays.copyOf(args, 4));
            String what = name + ": " + server + (checksum ? ", checksum: " : ": ") + result.err();
            if (result.status() == 0) {
                byte[] got = Files.readAllBytes(target);
                assertTrue(Arrays.equals(got, FIRST) || !checksum && Arrays.equals(got, SECOND), what);
                assertEquals(List.of("m.gguf", "m.gguf.origin"), names(home), what);
                assertEquals(got.length, Origin.read(target).orElseThrow().length(), what);
                right.incrementAndGet();
            } else {
                assertEquals(1, result.status(), what);
                assertEquals(1, result.errLines(), what);
                assertTrue(result.err().endsWith("[IO-002]\n"), what);
                assertFalse(result.err().contains("null"), what);
                assertFalse(Files.exists(target), what);
                assertTrue(List.of("m.gguf.part", "m.gguf.part.origin").containsAll(names(home)), what);
            }
        }
        for (String left : names(home)) {
            Files.delete(home.resolve(left));
        }
        Files.delete(home);
        return null;
    }

    /// What an earlier download left, of this or another address, version or length.
    private static void leftover(Random random, Path target, String url) throws IOException {
        boolean first = random.nextBoolean();
        byte[] bytes = Arrays.copyOf(first ? FIRST : SECOND, random.nextInt(FIRST.length + 1000));
        Path part = Files.write(target.resolveSibling("m.gguf.part"), bytes);
        switch (random.nextInt(3)) {
            case 0 -> new Origin(url, first ? "\"v1\"" : "\"v2\"", "", FIRST.length).write(part);
            case 1 -> new Origin(url + "?other", "\"v1\"", "", FIRST.length).write(part);
            default -> {
                // Nobody knows where it comes from.
            }
        }
    }

    private static List<String> names(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(f -> f.getFileName().toString()).sorted().toList();
        }
    }

    private static String sha256(byte... bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
