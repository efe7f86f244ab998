package dev.tenon.kernels.nvidia.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Value;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.kernels.nvidia.KvBuffer;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.plan.PlannedGraph;
import dev.tenon.kernels.nvidia.plan.TestGraphs;
import dev.tenon.kernels.nvidia.step.StepLayout;
import dev.tenon.kernels.nvidia.step.StepShape;
import dev.tenon.kernels.nvidia.step.TokenMasks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What a runner asks of a device: on one that notes it. The first logit of row `r` of its `n`-th run is
/// `100 n + r`, and its token from row `r` is `r + 7`.
class StepRunnerTests {
    private static final TokenSampling FROM_ALL = new TokenSampling(
            SamplingParams.greedyBuilder().temperature(1).seed(5).build(), 0);

    private final Device device = new Device(64, 4);
    private final StepRunner runner = device.runner;

    private static final class Device implements StepDevice, StepLogits {
        final List<String> calls = new ArrayList<>();
        final StepRunner runner;
        final PlannedGraph planned;
        final Optional<MemorySegment> sampled;
        final MemorySegment masks;
        private final MemorySegment input;
        private final MemorySegment pageTables;
        private int runs;
        private int firstRow;
        Runnable whileRunning = () -> {};

        Device(int maxTokens, int maxSequences) {
            this(maxTokens, maxSequences, false);
        }

        /// @param named whether embeddings are an output, and the selected rows another
        Device(int maxTokens, int maxSequences, boolean named) {
            TestGraphs t = new TestGraphs();
            Graph graph = t.decoder("Q8_0", "Q8_0", false);
            planned = t.plan(
                    Fusion.fuse(named ? withNames(graph) : graph),
                    TestGraphs.options(maxTokens, maxSequences),
                    TestGraphs.ORIN,
                    MvSchedule.DEFAULT);
            input = Arena.ofAuto().allocate(planned.step().bytes(), 16);
            pageTables = Arena.ofAuto().allocate(planned.pages().bytes(), 16);
            sampled = Optional.of(Arena.ofAuto().allocate(planned.sampled().bytes(), 64));
            masks = Arena.ofAuto().allocate(planned.masks().bytes(), 64);
            runner = new StepRunner(new PlanTurn(), planned, this);
        }

        private static Graph withNames(Graph graph) {
            Value chosen = graph.ops().stream()
                    .filter(CoreOp.SelectRows.class::isInstance)
                    .map(op -> op.outputs().getFirst())
                    .findFirst()
                    .orElseThrow();
            Value all = graph.ops().getFirst().outputs().getFirst();
            return new Graph(graph.name(), graph.ops(), graph.output(), Map.of("all", all, "chosen", chosen));
        }

        @Override
        public MemorySegment input() {
            return input;
        }

        @Override
        public MemorySegment pageTables() {
            return pageTables;
        }

        @Override
        public Optional<MemorySegment> sampled() {
            return sampled;
        }

        @Override
        public MemorySegment masks() {
            return masks;
        }

        @Override
        public StepLogits logits() {
            return this;
        }

        @Override
        public void begin() {
            firstRow = 0;
        }

        @Override
        public void sendPageTables(long offset, long bytes) {
            calls.add("pages " + offset + " + " + bytes);
        }

        @Override
        public void run(Step step) {
            whileRunning.run();
            runs++;
            StepShape shape = step.shape();
            calls.add("run " + shape.rows() + ", " + shape.logitRows() + (step.sendsLogits() ? ", sends" : ""));
            for (int row = 0; step.samples() && row < shape.logitRows(); row++) {
                sampled.orElseThrow().set(ValueLayout.JAVA_INT, 64 + 4L * row, row + 7);
            }
        }

        @Override
        public void copy(List<KvBuffer> buffers, int from, int to) {
            calls.add("copy " + from + " to " + to + " in " + buffers.size());
        }

        @Override
        public void read(List<KvBuffer> buffers, int piece, MemorySegment target) {
            calls.add("read " + piece + " in " + buffers.size());
            if (target.byteSize() == buffers.getFirst().pageBytes()) { // of one buffer
                target.set(ValueLayout.JAVA_FLOAT, 0, 100 * runs + piece);
            }
        }

        @Override
        public void write(List<KvBuffer> buffers, int piece, MemorySegment source) {
            calls.add("write " + piece + " in " + buffers.size());
        }

        @Override
        public boolean arrivesWith(int rows) {
            return rows <= 8;
        }

        @Override
        public void fetch(int first, int count) {
            calls.add("fetch " + first + " + " + count);
            firstRow = first;
        }

        @Override
        public void take(int row, float[] target) {
            target[0] = 100 * runs + firstRow + row;
        }

        List<String> takeCalls() {
            List<String> taken = List.copyOf(calls);
            calls.clear();
            return taken;
        }
    }

    private static StepInput prompt(int tokens, boolean allLogits) {
        StepInput input = new StepInput();
        input.addSequence(new int[] {3, 5});
        for (int t = 0; t < tokens; t++) {
            input.addToken(1, t, allLogits || t == tokens - 1);
        }
        return input;
    }

    private float logit(StepResult result, int row) {
        float[] logits = new float[device.planned.logitsWidth()];
        result.logits(row, logits);
        return logits[0];
    }

    @Test
    void fewRowsOfLogitsArriveWithTheStep() {
        StepResult result = runner.run(prompt(3, true));
        assertEquals(List.of("pages 0 + 4", "run 4, 4, sends"), device.takeCalls());
        assertEquals(102, logit(result, 2));
        assertEquals(100, logit(result, 0));
        assertEquals(List.of(), device.takeCalls());
    }

    @Test
    void logitsThatNobodyAskedForDoNotArriveWithTheNextStep() {
        runner.run(prompt(3, true));
        device.takeCalls();
        StepResult result = runner.run(prompt(3, true));
        assertEquals(List.of("run 4, 4"), device.takeCalls());
        assertEquals(202, logit(result, 2));
        assertEquals(List.of("fetch 0 + 3"), device.takeCalls());
        runner.run(prompt(3, true));
        assertEquals(List.of("run 4, 4, sends"), device.takeCalls());
    }

    @Test
    void otherLogitsComeTogetherWhenTheyAreAskedFor() {
        StepResult result = runner.run(prompt(12, true));
        device.calls.clear();
        float first = logit(result, 0);
        assertEquals(List.of("fetch 0 + 12"), device.takeCalls());
        assertEquals(first + 2, logit(result, 2));
        assertEquals(List.of(), device.takeCalls());
    }

    @Test
    void moreRowsThanThereIsMemoryForAreSeveralRunsWhoseRowsAreKept() {
        StepResult result = runner.run(prompt(40, true));
        assertEquals(
                List.of(
                        "pages 0 + 4",
                        "run 64, 16",
                        "fetch 0 + 16",
                        "run 0, 16",
                        "fetch 0 + 16",
                        "run 0, 8",
                        "fetch 0 + 8"),
                device.takeCalls());
        assertEquals(40, result.rows());
        assertEquals(
                List.of(115f, 200f, 215f, 300f, 307f),
                List.of(logit(result, 15), logit(result, 16), logit(result, 31), logit(result, 32), logit(result, 39)));
        assertThrows(IndexOutOfBoundsException.class, () -> logit(result, 40));
        assertEquals(List.of(), device.takeCalls());
    }

    private static float named(StepResult result, String output, int row) {
        float[] values = new float[512];
        result.output(output, row, values);
        return values[0];
    }

    @Test
    void rowsOfOtherOutputsAreReadOneByOneAndKeptWhereARunWritesOverThem() {
        Device other = new Device(64, 4, true);
        StepResult result = other.runner.run(prompt(3, false));
        other.calls.clear();
        assertEquals(List.of(3, 1), List.of(result.rows("all"), result.rows("chosen")));
        assertEquals(102, named(result, "all", 2));
        assertEquals(100, named(result, "chosen", 0));
        assertEquals(List.of("read 2 in 1", "read 0 in 1"), other.takeCalls());
        assertThrows(IndexOutOfBoundsException.class, () -> named(result, "chosen", 1));
        assertThrows(IllegalArgumentException.class, () -> named(result, "none", 0));

        StepResult many = other.runner.run(prompt(40, true));
        other.calls.clear();
        assertEquals(
                List.of(215f, 300f, 407f),
                List.of(named(many, "chosen", 15), named(many, "chosen", 16), named(many, "chosen", 39)));
        assertEquals(List.of(), other.takeCalls());
        assertEquals(439, named(many, "all", 39), "of the first run, as nothing wrote over it");
    }

    @Test
    void onlyPagesThatTheDeviceDoesNotKnowAreSent() {
        runner.run(prompt(1, true));
        runner.run(prompt(1, true));
        runner.run(prompt(64, false));
        StepInput next = new StepInput();
        next.addSequence(new int[] {3, 5});
        next.addToken(1, 64, true);
        runner.run(next);
        assertEquals(
                List.of("pages 0 + 4", "run 1, 1, sends", "run 1, 1", "run 64, 1", "pages 4 + 4", "run 1, 1"),
                device.takeCalls());
    }

    @Test
    void theDeviceSamplesFromItsRowsAndTheHostReadsTheOthers() {
        StepInput input = new StepInput();
        for (int s = 0; s < 3; s++) {
            input.addSequence(new int[] {s + 1});
            input.addToken(1, 0, s == 1 ? FROM_ALL : TokenSampling.GREEDY);
        }
        StepResult result = runner.run(input);
        assertEquals(List.of("pages 0 + " + (2 * 64 + 1) * 4, "run 4, 4"), device.takeCalls());
        assertEquals(List.of(7, -1, 9), List.of(result.token(0), result.token(1), result.token(2)));
        assertEquals(101, logit(result, 1));
        assertEquals(List.of("fetch 1 + 1"), device.takeCalls(), "alone, because most rows are not asked for");
    }

    @Test
    void theDeviceReadsTheMasksOfItsRows() {
        int width = device.planned.logitsWidth();
        StepInput input = new StepInput();
        for (int s = 0; s < 3; s++) {
            long[] mask = new long[Math.ceilDiv(width, 64)];
            mask[0] = s + 5;
            input.addSequence(new int[] {s + 1});
            input.addToken(1, 0, s == 2 ? FROM_ALL : TokenSampling.GREEDY, s == 0 ? null : mask);
        }
        StepResult result = runner.run(input);
        assertEquals(List.of(7, 8, -1), List.of(result.token(0), result.token(1), result.token(2)));
        StepLayout layout = device.planned.limits().layout(StepShape.of(3, 3, 3).sampling(1));
        List<Integer> masked = new ArrayList<>();
        for (int row = 0; row < 4; row++) {
            masked.add(device.input.get(ValueLayout.JAVA_INT, layout.choices() + 40L * row + 32));
        }
        assertEquals(List.of(0, 1, 0, 0), masked);
        assertEquals(6, device.masks.get(ValueLayout.JAVA_LONG, TokenMasks.bytes(1, width)));
        StepInput empty = new StepInput();
        empty.addSequence(new int[] {1});
        empty.addToken(1, 0, TokenSampling.GREEDY, new long[0]);
        assertThrows(IllegalArgumentException.class, () -> runner.run(empty));
    }

    @Test
    void whatIsRefusedDoesNotRun() {
        assertThrows(IllegalArgumentException.class, () -> runner.run(prompt(65, false)));
        assertEquals(0, runner.run(new StepInput()).rows());
        assertThrows(IndexOutOfBoundsException.class, () -> runner.pages().copy(0, 64));
        assertEquals(List.of(), device.takeCalls());
    }

    @Test
    void noCallComesWithinAnother() {
        device.whileRunning = () -> {
            assertThrows(IllegalStateException.class, () -> runner.run(prompt(1, true)));
            assertThrows(IllegalStateException.class, () -> runner.pages().copy(0, 1));
            assertThrows(IllegalStateException.class, () -> runner.turn().close(() -> {}));
        };
        runner.run(prompt(1, true));
        runner.pages().copy(0, 1);
        assertEquals(List.of("pages 0 + 4", "run 1, 1, sends", "copy 0 to 1 in 4"), device.takeCalls());
    }

    @Test
    void aClosedPlanIsOfNoUse() {
        StepResult result = runner.run(prompt(1, true));
        List<String> released = new ArrayList<>();
        runner.turn().close(() -> released.add("once"));
        runner.turn().close(() -> released.add("twice"));
        assertEquals(List.of("once"), released);
        for (Runnable call : List.<Runnable>of(
                () -> runner.run(prompt(1, true)), () -> runner.pages().copy(0, 1), () -> logit(result, 0))) {
            assertEquals(
                    ErrorCode.CLOSED,
                    assertThrows(BackendException.class, call::run).code());
        }
    }
}
