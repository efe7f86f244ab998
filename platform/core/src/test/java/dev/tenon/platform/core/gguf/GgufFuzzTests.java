package dev.tenon.platform.core.gguf;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Opens mutated files for some seconds, other ones each time. Each has a seed of its own, which a failure names:
/// with `-Dtenon.fuzz.seed=SEED` that file comes first. `-Dtenon.fuzz.seconds` sets the time.
class GgufFuzzTests {
    private static final int HEADER_BYTES = 7000;
    private static final long MOST_BYTES = 64L << 20;
    /// Of the processor: the machine may stand still meanwhile.
    private static final long MOST_NANOS = 10_000_000_000L;
    private static final int LEAST_RUNS = 100;
    private static final long[] SPLICES = {
        0,
        1,
        -1,
        2,
        3,
        8,
        9,
        255,
        65535,
        65536,
        1L << 24,
        (1L << 31) - 1,
        1L << 31,
        (1L << 32) - 1,
        1L << 32,
        1L << 40,
        1L << 60,
        1L << 62,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Long.MIN_VALUE + 7
    };

    @TempDir
    Path folder;

    @Test
    void mutatedFileOpensOrIsRefusedWithATypedError() throws IOException {
        long firstSeed = Long.getLong("tenon.fuzz.seed", System.nanoTime());
        long end = System.nanoTime() + Long.getLong("tenon.fuzz.seconds", 5) * 1_000_000_000L;
        System.getLogger(getClass().getName()).log(System.Logger.Level.INFO, "tenon.fuzz.seed=" + firstSeed);
        List<byte[]> originals = List.of(
                read("ok_model.gguf"),
                read("ok_version_2.gguf"),
                read("ok_alignment_64.gguf"),
                read("ok_unknown_keys.gguf"),
                read("no_hyperparameters.gguf"));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        TreeMap<String, Integer> outcomes = new TreeMap<>();
        Path path = folder.resolve("mutated.gguf");
        int runs = 0;
        while (System.nanoTime() < end || runs <= LEAST_RUNS) {
            long seed = firstSeed + runs;
            SplittableRandom random = new SplittableRandom(seed);
            byte[] bytes = mutate(originals.get(random.nextInt(originals.size())), random);
            Files.write(path, bytes);
            String run = "-Dtenon.fuzz.seed=" + seed;
            long allocated = threads.getCurrentThreadAllocatedBytes();
            long start = threads.getCurrentThreadCpuTime();
            String outcome = outcome(path, run);
            long nanos = threads.getCurrentThreadCpuTime() - start;
            long grown = threads.getCurrentThreadAllocatedBytes() - allocated;
            assertTrue(nanos < MOST_NANOS, () -> run + " took " + nanos / 1_000_000 + " ms");
            assertTrue(grown < MOST_BYTES, () -> run + " allocated " + grown + " bytes");
            outcomes.merge(outcome, 1, Integer::sum);
            runs++;
        }
        System.getLogger(getClass().getName()).log(System.Logger.Level.INFO, runs + " runs: " + outcomes);
        assertTrue(
                outcomes.size() > 3,
                "-Dtenon.fuzz.seed=" + firstSeed + ", " + runs + " runs: too few kinds of outcome: " + outcomes);
        TestFiles.assertNotMapped("mutated.gguf");
    }

    private static String outcome(Path path, String run) {
        try (GgufFile file = TestFiles.open(path)) {
            for (TensorInfo tensor : file.tensors()) {
                file.data(tensor).get(ValueLayout.JAVA_BYTE, tensor.sizeBytes() - 1);
            }
            return "opens";
        } catch (TenonException e) {
            assertTrue(e.getMessage().length() < 2000, () -> run + ": long message");
            return e.code();
        } catch (Throwable e) {
            return fail(run + ": " + e, e);
        }
    }

    private static byte[] mutate(byte[] original, SplittableRandom random) {
        byte[] bytes = original.clone();
        int header = Math.min(HEADER_BYTES, bytes.length);
        int changes = 1 + random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            int at = random.nextInt(random.nextInt(8) == 0 ? 24 : header);
            switch (random.nextInt(6)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt();
                case 2 -> splice(bytes, at, 8, random);
                case 3 -> splice(bytes, at, 4, random);
                case 4 -> {
                    int length = Math.min(random.nextInt(64), header - at);
                    System.arraycopy(original, random.nextInt(header - length), bytes, at, length);
                }
                default -> {
                    if (random.nextInt(4) == 0) {
                        return Arrays.copyOf(bytes, random.nextInt(bytes.length));
                    }
                    bytes[at]++;
                }
            }
        }
        return bytes;
    }

    private static void splice(byte[] bytes, int at, int width, SplittableRandom random) {
        if (at + width > bytes.length) {
            return;
        }
        long value = random.nextInt(3) == 0 ? random.nextLong() : SPLICES[random.nextInt(SPLICES.length)];
        ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (width == 8) {
            out.putLong(at, value);
        } else {
            out.putInt(at, (int) value);
        }
    }

    private static byte[] read(String name) throws IOException {
        return Files.readAllBytes(TestFiles.malformed(name));
    }
}
