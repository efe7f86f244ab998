package dev.tenon.platform.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Mutated files are decoded, or refused with a code: no other exception, hang, or memory without bound. Each file
/// has a seed of its own, which a failure names: with `-Dtenon.fuzz.seed=SEED` that file comes first.
class MutatedMediaTests {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /// Of the processor: the machine may stand still meanwhile.
    private static final long MOST_NANOS = 1_000_000_000L;
    /// For a million pixels, and a small file.
    private static final long MOST_BYTES = 64 << 20;

    private final PictureReader pictures = new PictureReader(new PictureBudget(1 << 20, 1_000_000, 200, 100), true);
    private final SoundReader sounds = new SoundReader(new SoundBudget(1 << 20, 30), 16_000);

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void twoThousandFiles() {
        run(2_000);
    }

    /// Long: as many files as `-Dtenon.fuzz.files` says, 100,000 by default.
    @Test
    @Tag("long")
    @Timeout(value = 10, unit = TimeUnit.HOURS)
    void manyFiles() {
        run(Long.getLong("tenon.fuzz.files", 100_000));
    }

    private void run(long files) {
        TreeMap<String, Integer> outcomes = new TreeMap<>();
        List<byte[]> sound = new ArrayList<>();
        for (String name : TestFiles.PICTURES) {
            byte[] file = TestFiles.read(name);
            pictures.read(file, name); // also loads the classes, which takes the processor longest
            sound.add(file);
        }
        sound.add(SoundReaderTests.wav(1, 16, 2, 44_100, SoundReaderTests.tone(1, 16, 2, 44_100)));
        sound.add(SoundReaderTests.wav(3, 32, 1, 8_000, SoundReaderTests.tone(3, 32, 1, 8_000)));
        long first = Long.getLong("tenon.fuzz.seed", 0);
        for (long seed = first; seed < first + files; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int which = random.nextInt(sound.size());
            byte[] file = mutate(sound.get(which), sound.get(random.nextInt(sound.size())), random);
            String run = "-Dtenon.fuzz.seed=" + seed;
            long bytes = THREADS.getCurrentThreadAllocatedBytes();
            long nanos = THREADS.getCurrentThreadCpuTime();
            outcomes.merge(read(file, which < TestFiles.PICTURES.size(), run), 1, Integer::sum);
            long took = THREADS.getCurrentThreadCpuTime() - nanos;
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - bytes;
            assertTrue(took < MOST_NANOS, () -> run + " took " + took / 1_000_000 + " ms");
            assertTrue(allocated < MOST_BYTES, () -> run + " allocated " + allocated + " bytes");
        }
        System.getLogger(MutatedMediaTests.class.getName())
                .log(System.Logger.Level.INFO, files + " files: " + outcomes);
        assertEquals(4, outcomes.size(), outcomes.toString());
    }

    private String read(byte[] file, boolean picture, String run) {
        try {
            if (picture) {
                pictures.read(file, "mutated");
            } else {
                sounds.read(file, "mutated");
            }
            return "decoded";
        } catch (MediaException e) {
            assertTrue(e.getMessage().contains(" mutated "), () -> run + ": " + e.getMessage());
            return e.code();
        } catch (Throwable e) {
            return fail(run + ": " + e, e);
        }
    }

    /// One to four changes: bits, bytes, numbers, a cut, a part doubled or taken out, a part of another file.
    private static byte[] mutate(byte[] sound, byte[] other, SplittableRandom random) {
        byte[] file = sound.clone();
        // What changes the length is mostly seen before the pixels.
        int kinds = random.nextBoolean() ? 3 : 7;
        for (int left = random.nextInt(1, 5); left > 0 && file.length > 8; left--) {
            // Half of the changes are in the header.
            int at = random.nextInt(random.nextBoolean() ? Math.min(64, file.length) : file.length);
            int length = random.nextInt(1, Math.min(64, file.length - at) + 1);
            switch (random.nextInt(kinds)) {
                case 0 -> file[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> file[at] = (byte) random.nextInt();
                case 2 -> Arrays.fill(file, at, at + Math.min(4, length), (byte) (random.nextBoolean() ? 0 : -1));
                case 3 -> file = Arrays.copyOf(file, Math.max(at, 1));
                case 4 -> file = join(file, at, Arrays.copyOfRange(file, at, at + length), at);
                case 5 -> file = join(file, at, new byte[0], at + length);
                default -> {
                    int from = random.nextInt(other.length);
                    byte[] part = Arrays.copyOfRange(other, from, Math.min(other.length, from + length));
                    file = join(file, at, part, at + length);
                }
            }
        }
        return file;
    }

    private static byte[] join(byte[] file, int end, byte[] part, int start) {
        byte[] joined = new byte[end + part.length + file.length - start];
        System.arraycopy(file, 0, joined, 0, end);
        System.arraycopy(part, 0, joined, end, part.length);
        System.arraycopy(file, start, joined, end + part.length, file.length - start);
        return joined;
    }
}
