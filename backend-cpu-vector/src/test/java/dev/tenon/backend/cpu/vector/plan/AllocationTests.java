package dev.tenon.backend.cpu.vector.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.CpuDevice;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.TestWeights;
import dev.tenon.backend.cpu.vector.TinyModel;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import dev.tenon.quant.formats.Q4_1Format;
import dev.tenon.quant.formats.Q5_0Format;
import dev.tenon.quant.formats.Q8_0Format;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A step leaves no garbage on any thread, once C2 has compiled it.
///
/// In a JVM that ran other tests before, C2 now and then gives a method up for good, which then puts its vectors on the
/// heap for ever; so a case that does not pass is tried once more in a JVM of its own.
class AllocationTests {
    /// No Java object is smaller; what 100 steps allocate below that a step is the counter's own.
    private static final int SMALLEST_OBJECT = 16;
    /// Until C2 has compiled what a step runs, on a busy machine, too.
    private static final long SECONDS = 60;

    private static final List<QuantFormat> FORMATS =
            List.of(new Q8_0Format(), new Q5_0Format(), new Q4_1Format(), TestWeights.F32);

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 32", "1, 1", "1, 32", "2, 1", "2, 32", "3, 1", "3, 32"})
    void aStepAllocatesNothingOnTheHeapOnAnyThread(int format, int tokens) throws Exception {
        long least = leastOfAStep(format, tokens);
        if (least >= SMALLEST_OBJECT) {
            least = inFreshJvm(format, tokens);
        }
        assertTrue(least < SMALLEST_OBJECT, least + " bytes a step");
    }

    private static long inFreshJvm(int format, int tokens) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of(
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                AllocationTests.class.getName(),
                Integer.toString(format),
                Integer.toString(tokens)));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes()).strip();
        assertEquals(0, process.waitFor(), printed);
        return Long.parseLong(printed);
    }

    /// Runs one case and prints its bytes a step.
    ///
    /// @param args index of the format, tokens of a step
    public static void main(String[] args) {
        System.out.println(leastOfAStep(Integer.parseInt(args[0]), Integer.parseInt(args[1])));
    }

    private static long leastOfAStep(int format, int tokens) {
        TinyModel model = TinyModel.create(2, FORMATS.get(format), true);
        CpuVectorBackend backend = new CpuVectorBackend();
        boolean vector = backend.probe().issues().isEmpty();
        CpuThreads team = new CpuThreads(2);
        long[] threads = new long[2];
        team.run(thread -> threads[thread] = Thread.currentThread().threadId());
        PlanOptions options = PlanOptions.builder(256).maxBatchTokens(32).build();
        try (Device device = backend.open(DeviceOptions.builder().threads(2).build());
                Device own = new CpuDevice(device.info(), team, new KernelSet(vector));
                Plan plan = own.compiler().compile(CompileRequest.of(model.graph(), model.weights(), options))) {
            StepInput input = new StepInput();
            int[] pages = {0, 1, 2, 3};
            float[] logits = new float[TinyModel.VOCABULARY];
            long least = Long.MAX_VALUE;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (least >= SMALLEST_OBJECT && System.nanoTime() < end) {
                long before = allocated(threads);
                for (int step = 0; step < 100; step++) {
                    input.clear();
                    input.addSequence(pages);
                    for (int t = 0; t < tokens; t++) {
                        input.addToken((step + t) % 97, 100 + step + t, t == tokens - 1);
                    }
                    plan.run(input).logits(0, logits);
                }
                least = Math.min(least, (allocated(threads) - before) / 100);
            }
            return least;
        }
    }

    /// {@return heap bytes that threads have allocated so far}
    private static long allocated(long[] threads) {
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        return bean.getThreadAllocatedBytes(threads[0]) + bean.getThreadAllocatedBytes(threads[1]);
    }
}
