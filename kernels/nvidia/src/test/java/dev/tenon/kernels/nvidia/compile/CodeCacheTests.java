package dev.tenon.kernels.nvidia.compile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.kernels.nvidia.source.CudaSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodeCacheTests {
    private static final CudaSource SOURCE = new CudaSource("linear.Q6_K", "text", Map.of("a.cuh", "one"));

    @TempDir
    Path folder;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void whatWasStoredIsFoundAgain() {
        CodeCache cache = new CodeCache(folder.resolve("not/there/yet"));
        assertTrue(cache.find("x.cubin").isEmpty());
        cache.store("x.cubin", bytes("machine code"));
        assertArrayEquals(bytes("machine code"), cache.find("x.cubin").orElseThrow());
        cache.store("x.cubin", bytes("other code"));
        assertArrayEquals(bytes("other code"), cache.find("x.cubin").orElseThrow());
    }

    @Test
    void tornAndDamagedFilesAreNotTaken() throws IOException {
        CodeCache cache = new CodeCache(folder);
        cache.store("x.cubin", bytes("machine code"));
        Path file = folder.resolve("x.cubin");
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length++) {
            Files.write(file, java.util.Arrays.copyOf(whole, length));
            assertTrue(cache.find("x.cubin").isEmpty(), "torn after " + length + " bytes");
        }
        byte[] damaged = whole.clone();
        damaged[whole.length - 1] ^= 1;
        Files.write(file, damaged);
        assertTrue(cache.find("x.cubin").isEmpty(), "damaged");
    }

    @Test
    void theNameDependsOnEverythingTheCodeDependsOn() {
        String key = CodeCache.key(SOURCE, List.of("-a"), "nvrtc 13.0");
        assertEquals(key, CodeCache.key(SOURCE, List.of("-a"), "nvrtc 13.0"));
        assertTrue(key.startsWith("linear_Q6_K-") && key.endsWith(".cubin"), key);
        assertNotEquals(key, CodeCache.key(SOURCE, List.of("-b"), "nvrtc 13.0"), "options");
        assertNotEquals(key, CodeCache.key(SOURCE, List.of("-a"), "nvrtc 12.9"), "compiler");
        CudaSource text = new CudaSource("linear.Q6_K", "text2", Map.of("a.cuh", "one"));
        assertNotEquals(key, CodeCache.key(text, List.of("-a"), "nvrtc 13.0"), "source");
        CudaSource header = new CudaSource("linear.Q6_K", "text", Map.of("a.cuh", "two"));
        assertNotEquals(key, CodeCache.key(header, List.of("-a"), "nvrtc 13.0"), "header");
    }

    @Test
    void whatAKilledProcessLeftGoesAndNothingElse() throws IOException {
        FileTime old = FileTime.from(Instant.now().minusSeconds(600));
        List<String> stay = List.of("a.cubin." + ProcessHandle.current().pid() + ".17.new", "a.cubin", "b.17.new");
        for (String name : stay) {
            Files.setLastModifiedTime(Files.createFile(folder.resolve(name)), old);
        }
        Files.createFile(folder.resolve("c.cubin.999999999.17.new"));
        Files.setLastModifiedTime(Files.createFile(folder.resolve("d.cubin.999999999.-17.new")), old);
        Files.setLastModifiedTime(Files.createFile(folder.resolve("d.cubin.999999999.17.new")), old);
        new CodeCache(folder).store("x.cubin", bytes("machine code"));
        Set<String> expected = new HashSet<>(stay);
        expected.addAll(List.of("c.cubin.999999999.17.new", "x.cubin"));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(expected, files.map(f -> f.getFileName().toString()).collect(Collectors.toSet()));
        }
    }

    @Test
    void manyWritersLeaveOneWholeFile() throws Exception {
        int count = 8;
        List<String> codes = IntStream.range(0, count)
                .mapToObj(i -> ("code of writer " + i).repeat(1000))
                .toList();
        CyclicBarrier together = new CyclicBarrier(count);
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            List<Future<?>> writers = new ArrayList<>();
            for (String code : codes) {
                writers.add(threads.submit((Callable<Void>) () -> {
                    CodeCache own = new CodeCache(folder);
                    together.await();
                    for (int round = 0; round < 20; round++) {
                        own.store("x.cubin", bytes(code));
                        byte[] found = own.find("x.cubin").orElseThrow();
                        assertTrue(codes.contains(new String(found, StandardCharsets.UTF_8)), "no writer's code");
                    }
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
        }
        assertTrue(new CodeCache(folder).find("x.cubin").isPresent());
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(
                    List.of("x.cubin"),
                    files.map(f -> f.getFileName().toString()).toList());
        }
    }
}
