package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Fusion;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.JoinRows;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.ReplaceRows;
import dev.tenon.api.graph.RopeParams;
import dev.tenon.api.graph.Value;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Constant;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.step.GivenInput;
import dev.tenon.kernels.nvidia.step.GivenLayout;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Models that take pictures: what comes with tokens costs nothing in steps that have none of it.
class GivenPlansTests {
    private static final int WIDTH = 512;
    private static final int ALL = GivenInput.ROWS + GivenInput.PLACES + GivenInput.SPANS;

    /// A decoder that reads rows, places and spans, or one that does not.
    private static PlannedGraph plan(boolean seeing, DeviceTraits traits) {
        TestGraphs t = new TestGraphs();
        Graph graph = t.decoder("Q4_K", "Q6_K", true);
        Graph wanted = Fusion.fuse(seeing ? seeing(graph) : graph, KernelSupport::isFused);
        return t.plan(wanted, TestGraphs.options(64, 4), traits, MvSchedule.DEFAULT);
    }

    private static Graph seeing(Graph graph) {
        List<RopeParams.Turn> turns = IntStream.range(0, 32)
                .mapToObj(i -> new RopeParams.Turn(i % 4, i))
                .toList();
        List<Op> ops = new ArrayList<>();
        for (Op op : graph.ops()) {
            switch (op) {
                case CoreOp.Embedding e -> {
                    Value raw = new Value(graph.valueCount(), "raw", WIDTH);
                    ops.add(new CoreOp.Embedding(e.table(), raw));
                    ops.add(new ReplaceRows(raw, e.out()));
                }
                case CoreOp.Rope r ->
                    ops.add(new CoreOp.Rope(
                            r.x(), r.params().toBuilder().turns(turns).build(), r.out()));
                case CoreOp.Attention a ->
                    ops.add(new CoreOp.Attention(
                            a.q(),
                            a.k(),
                            a.v(),
                            a.layer(),
                            a.params().toBuilder().spans(true).build(),
                            a.out()));
                default -> ops.add(op);
            }
        }
        return graph.withOps(ops);
    }

    private static List<String> kernels(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream()
                .map(l -> l.module().name() + " " + l.entry() + " " + l.blocks())
                .toList();
    }

    private static List<String> entries(PlannedGraph planned, StepShape shape) {
        return planned.launches(shape).stream().map(Launch::entry).toList();
    }

    @Test
    void stepsThatHaveNothingOfItRunTheKernelsOfATextModel() {
        for (DeviceTraits traits : List.of(TestGraphs.HOPPER, TestGraphs.ORIN)) {
            PlannedGraph seeing = plan(true, traits);
            PlannedGraph text = plan(false, traits);
            List<StepShape> shapes = new ArrayList<>(text.limits().shapes());
            shapes.add(StepShape.of(2, 2, 2).sampling(40));
            for (StepShape shape : shapes) {
                assertEquals(kernels(text, shape), kernels(seeing, shape), shape::toString);
                assertEquals(
                        text.limits().layout(shape).bytes(),
                        seeing.limits().layout(shape).bytes());
            }
        }
    }

    @Test
    void aTextStandsStillOnAxesThatItDoesNotHave() {
        PlannedGraph planned = plan(true, TestGraphs.HOPPER);
        Constant table = planned.constants().stream()
                .filter(c -> c.buffer().purpose().equals("rope frequencies"))
                .findFirst()
                .orElseThrow();
        double[] frequencies = table.data().toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
        for (int i = 0; i < frequencies.length; i++) {
            assertEquals(i % 4 < 3, frequencies[i] > 0, "pair " + i);
        }
    }

    @Test
    void eachThingThatComesWithTokensHasItsKernel() {
        PlannedGraph planned = plan(true, TestGraphs.HOPPER);
        StepShape token = new StepShape(1, 1, false);
        List<String> text = entries(planned, token);
        assertEquals(List.of("embedding_Q4_K", "rope_table"), text.subList(0, 2));
        assertEquals(
                List.of("embedding_Q4_K", "given_rows", "rope_table"),
                entries(planned, token.withGiven(GivenInput.ROWS)).subList(0, 3));
        assertEquals(
                List.of("embedding_Q4_K", "rope_table_along"),
                entries(planned, token.withGiven(GivenInput.PLACES)).subList(0, 2));
        List<String> spans = entries(planned, token.withGiven(GivenInput.SPANS));
        assertEquals(List.of("rope_append_f16", "attention_f16_d64"), spans.subList(3, 5));

        StepShape many = new StepShape(64, 1, false).withGiven(ALL);
        Launch tiles = planned.launches(many).stream()
                .filter(l -> l.entry().startsWith("attention_prefill_"))
                .findFirst()
                .orElseThrow();
        assertEquals("attention_prefill", tiles.module().name(), "the module that knows of spans");
        Argument.Address lasts = (Argument.Address) tiles.arguments().get(15);
        Argument.Address firsts = (Argument.Address) tiles.arguments().getLast();
        assertEquals(planned.limits().layout(many).given().lasts(), lasts.offsetBytes());
        assertEquals(planned.limits().layout(many).positions(), firsts.offsetBytes(), "a window ends at its token");
        assertTrue(planned.step().bytes() >= planned.limits().layout(many).bytes());
    }

    @Test
    void whatComesWithTokensLiesBehindTheInput() {
        PlannedGraph planned = plan(true, TestGraphs.HOPPER);
        float[] row = new float[WIDTH + 1];
        row[WIDTH - 1] = 7;
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(1, 5, false);
        input.place(new int[] {3, 3, 3});
        input.addToken(0, 6, false, row);
        input.place(new int[] {4, 5, 6, 9});
        input.span(6, 7);
        input.addToken(0, 7, true, row);
        input.place(new int[] {4, 5, 7});
        input.span(6, 7);
        StepShape shape = planned.limits().shape(input, 1);
        assertEquals(ALL, shape.given());
        GivenLayout given = planned.limits().layout(shape).given();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(given.end(), 16).fill((byte) 9);
            planned.limits().layout(shape).write(input, 0, 1, memory);
            assertArrayEquals(new int[] {0, 1, 1, 0}, ints(memory, given.has(), 4));
            assertArrayEquals(
                    new int[] {3, 4, 4, 0, 3, 5, 5, 0, 3, 6, 7, 0, 0, 9, 0, 0}, ints(memory, given.places(), 16));
            assertArrayEquals(new int[] {5, 6, 6, 0}, ints(memory, given.firsts(), 4));
            assertArrayEquals(new int[] {5, 7, 7, 0}, ints(memory, given.lasts(), 4));
            for (int t = 0; t < 4; t++) {
                long last = given.given() + 4L * (t * WIDTH + WIDTH - 1);
                assertEquals(t == 1 || t == 2 ? 7 : 0, memory.get(ValueLayout.JAVA_FLOAT, last), "row " + t);
            }
        }
    }

    private static int[] ints(MemorySegment memory, long offset, int count) {
        return memory.asSlice(offset, 4L * count).toArray(ValueLayout.JAVA_INT);
    }

    @Test
    void onlyWhatIsThereIsSent() {
        PlannedGraph planned = plan(true, TestGraphs.HOPPER);
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(1, 5, true);
        assertEquals(0, planned.limits().shape(input, 1).given());
        input.place(new int[] {5, 5, 5});
        assertEquals(0, planned.limits().shape(input, 1).given(), "where a text stands");
        assertEquals(
                1,
                planned.limits()
                        .sampling(input, List.of(TokenSampling.GREEDY), 2)
                        .rows());
        input.place(new int[] {3, 3, 3});
        assertEquals(GivenInput.PLACES, planned.limits().shape(input, 1).given());
        assertThrows(
                IllegalArgumentException.class,
                () -> planned.limits().sampling(input, List.of(TokenSampling.GREEDY), 2));
        assertEquals(0, plan(false, TestGraphs.HOPPER).limits().shape(input, 1).given(), "nothing reads it");
    }

    @Test
    void aShortRowIsRefused() {
        PlannedGraph planned = plan(true, TestGraphs.HOPPER);
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        input.addToken(0, 0, true, new float[WIDTH - 1]);
        StepShape shape = planned.limits().shape(input, 1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(planned.step().bytes(), 16);
            IllegalArgumentException e = assertThrows(
                    IllegalArgumentException.class,
                    () -> planned.limits().layout(shape).write(input, 0, 1, memory));
            assertTrue(e.getMessage().contains("511") && e.getMessage().contains("512"), e.getMessage());
        }
    }

    @Test
    void rowsAreJoinedInOneRunHoweverManyAreWanted() {
        TestGraphs t = new TestGraphs();
        Graph decoder = t.decoder("Q4_K", "Q6_K", true);
        Value x = decoder.ops().getFirst().outputs().getFirst();
        Value joined = new Value(decoder.valueCount(), "joined", 4 * WIDTH);
        Graph graph = new Graph("joined", List.of(decoder.ops().getFirst(), new JoinRows(x, 4, joined)), joined);
        PlannedGraph planned = t.plan(graph, TestGraphs.options(64, 1), TestGraphs.HOPPER, MvSchedule.DEFAULT);
        assertEquals(64, planned.limits().maxLogitRows());
        assertEquals(List.of("embedding_Q4_K", "join_rows"), entries(planned, new StepShape(64, 16, false)));
    }
}
