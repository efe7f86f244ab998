package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Mutated models load and run, or are refused with a code, in one line: no crash, hang, stack trace or memory without
/// bound. Each file has a seed of its own, which a failure names: with `-Dtenon.fuzz.seed=SEED` that file comes first.
class MutatedModelsTests {
    private static final Path FOLDER =
            GoldenData.projectRoot().resolve("platform/core/src/test/resources/golden/malformed");
    private static final List<String> SOUND =
            List.of("ok_model.gguf", "ok_version_2.gguf", "ok_alignment_64.gguf", "ok_unknown_keys.gguf");

    /// Of what reading a header allocates.
    private static final long MOST_BYTES = 64L << 20;
    /// Of the processor: the machine may stand still meanwhile.
    private static final long MOST_NANOS = 10_000_000_000L;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final TreeMap<String, Integer> OUTCOMES = new TreeMap<>();
    private static List<Mutator> mutators;
    private static Engine engine;

    @TempDir
    static Path folder;

    @BeforeAll
    static void start() throws IOException {
        engine = StandaloneEngine.create(Map.of());
        mutators = new ArrayList<>();
        for (String name : SOUND) {
            mutators.add(new Mutator(FOLDER.resolve(name)));
        }
    }

    @AfterAll
    static void stop() {
        engine.close();
    }

    /// For `-Dtenon.fuzz.seconds`, 5 by default; other files each time.
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void otherFilesEachTime() throws IOException {
        long begin = System.nanoTime();
        long end = begin + Long.getLong("tenon.fuzz.seconds", 5) * 1_000_000_000L;
        run(Long.getLong("tenon.fuzz.seed", begin), done -> System.nanoTime() < end || done < 100);
    }

    /// Long: the files of the seeds from 0 on, as many as `-Dtenon.fuzz.files` says, 10,000 by default.
    @Test
    @Tag("long")
    @Timeout(value = 10, unit = TimeUnit.HOURS)
    void theSameFilesEachTime() throws IOException {
        long files = Long.getLong("tenon.fuzz.files", 10_000);
        run(0, done -> done < files);
    }

    private static void run(long firstSeed, LongPredicate more) throws IOException {
        OUTCOMES.clear();
        System.Logger log = System.getLogger(MutatedModelsTests.class.getName());
        log.log(System.Logger.Level.INFO, "-Dtenon.fuzz.seed=" + firstSeed);
        Path path = folder.resolve("mutated.gguf");
        long done = 0;
        for (; more.test(done); done++) {
            long seed = firstSeed + done;
            SplittableRandom random = new SplittableRandom(seed);
            Files.write(path, mutators.get(random.nextInt(mutators.size())).mutate(random));
            String run = "-Dtenon.fuzz.seed=" + seed;
            long start = THREADS.getCurrentThreadCpuTime();
            String outcome = read(path, run);
            if (outcome.equals("opens")) {
                outcome = load(path, run);
            }
            long nanos = THREADS.getCurrentThreadCpuTime() - start;
            assertTrue(nanos < MOST_NANOS, () -> run + " took " + nanos / 1_000_000 + " ms");
            OUTCOMES.merge(outcome, 1, Integer::sum);
        }
        log.log(System.Logger.Level.INFO, done + " files: " + OUTCOMES);
        assertTrue(OUTCOMES.size() > 5, done + " files: too few kinds of outcome: " + OUTCOMES);
        Path maps = Path.of("/proc/self/maps");
        if (Files.exists(maps)) {
            try (Stream<String> lines = Files.lines(maps)) {
                assertEquals(
                        List.of(), lines.filter(l -> l.contains("mutated.gguf")).toList());
            }
        }
    }

    private static String read(Path path, String run) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try (GgufFile file = GgufReader.open(path, TensorTypes.standard())) {
            for (TensorInfo tensor : file.tensors()) {
                file.data(tensor).get(ValueLayout.JAVA_BYTE, tensor.sizeBytes() - 1);
            }
            return "opens";
        } catch (TenonException e) {
            return code(e, run);
        } catch (Throwable e) {
            return fail(run + ": " + e, e);
        } finally {
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            assertTrue(allocated < MOST_BYTES, () -> run + " allocated " + allocated + " bytes");
        }
    }

    private static String load(Path path, String run) {
        try (LoadedModel model = engine.load(LoadRequest.of(path));
                Session session = model.newSession()) {
            session.evaluate(new int[] {1, 2, 3}, Rows.LAST, (row, logits) -> {});
            return "runs";
        } catch (TenonException e) {
            return code(e, run);
        } catch (Throwable e) {
            return fail(run + ": " + e, e);
        }
    }

    private static String code(TenonException e, String run) {
        assertTrue(e.code().matches("(GGUF|MODEL|LIMIT|BACKEND)-\\d{3}"), () -> run + ": " + e.getMessage());
        // Of steps, a failure is a fault of ours.
        assertTrue(!e.code().equals("BACKEND-003"), () -> run + ": " + e.getMessage());
        assertTrue(e.getMessage().lines().count() == 1, () -> run + ": " + e.getMessage());
        return e.code();
    }
}
