package dev.tenon.kernels.nvidia.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.device.StepInput;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepLayoutTests {
    private static int[] ints(MemorySegment memory, long offset, int count) {
        return memory.asSlice(offset, 4L * count).toArray(ValueLayout.JAVA_INT);
    }

    private static StepInput input(int[]... positionsOfSequences) {
        StepInput input = new StepInput();
        int token = 100;
        for (int[] positions : positionsOfSequences) {
            input.addSequence(new int[] {0});
            for (int i = 0; i < positions.length; i++) {
                input.addToken(token++, positions[i], i == positions.length - 1);
            }
        }
        return input;
    }

    @Test
    void bucketsArePowersOfTwo() {
        int[] sizes = {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 512, 513};
        int[] expected = {0, 1, 2, 4, 4, 8, 8, 16, 16, 32, 512, 1024};
        for (int i = 0; i < sizes.length; i++) {
            assertEquals(expected[i], Buckets.of(sizes[i]), "bucket of " + sizes[i]);
        }
    }

    @Test
    void rowsBehindTheLastTokenBelongToNoSequence() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = input(new int[] {4, 5}, new int[] {9});
            StepShape shape = StepShape.of(in.tokenCount(), in.logitRows(), 2);
            assertEquals(new StepShape(4, 2, false), shape);
            StepLayout layout = new StepLayout(shape, 0, 2, false, false, List.of(), GivenInput.NOTHING);
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 2, memory);
            assertArrayEquals(new int[] {100, 101, 102, 0}, ints(memory, layout.tokens(), 4));
            assertArrayEquals(new int[] {4, 5, 9, 0}, ints(memory, layout.positions(), 4));
            assertArrayEquals(new int[] {0, 0, 1, -1}, ints(memory, layout.sequences(), 4));
            assertArrayEquals(new int[] {1, 2}, ints(memory, layout.logitRows(), 2));
        }
    }

    @Test
    void furtherLogitRowsFollowInRunsOfTheirOwn() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = input(new int[] {0}, new int[] {0}, new int[] {0, 1}, new int[] {7});
            StepLayout layout =
                    new StepLayout(new StepShape(0, 2, false), 0, 4, false, false, List.of(), GivenInput.NOTHING);
            MemorySegment memory = arena.allocate(layout.bytes(), 16);
            layout.write(in, 1, 2, memory);
            assertArrayEquals(new int[] {1, 3}, ints(memory, layout.logitRows(), 2));
            layout.write(in, 3, 1, memory);
            assertArrayEquals(new int[] {4, 0}, ints(memory, layout.logitRows(), 2));
        }
    }

    @Test
    void tilesHoldRowsOfOneSequenceLongestFirst() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = input(new int[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, new int[] {40}, new int[] {20, 21});
            StepShape shape = StepShape.of(in.tokenCount(), 0, 3);
            StepLayout layout = new StepLayout(shape, 8, 3, false, false, List.of(), GivenInput.NOTHING);
            assertEquals(16 / 8 + 3, layout.tileCount());
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 0, memory);
            assertArrayEquals(
                    new int[] {10, 1, 1, 40, 11, 2, 2, 20, 8, 2, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0},
                    ints(memory, layout.tiles(), 20));
        }
    }

    @Test
    void rowsThatSeeWhatFollowsThemKnowWhereTheirSequenceEnds() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = input(new int[] {0, 1, 2}, new int[] {4}, new int[] {0, 7});
            StepShape shape = StepShape.of(in.tokenCount(), 0, 3);
            StepLayout layout = new StepLayout(shape, 4, 3, true, false, List.of(), GivenInput.NOTHING);
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 0, memory);
            assertArrayEquals(new int[] {2, 2, 2, 4, 7, 7, 0, 0}, ints(memory, layout.lasts(), 8));
            assertEquals(layout.lasts() + 8 * 4, layout.tiles());
        }
    }

    @Test
    void howTokensAreChosenStandsBehindTheRows() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = input(new int[] {4}, new int[] {9}, new int[] {7});
            StepShape shape = StepShape.of(3, 3, 3).sampling(40);
            assertEquals(new StepShape(4, 4, false, 64), shape);
            assertEquals(new StepShape(16, 16, true, 1), StepShape.of(9, 9, 9).sampling(1));
            StepLayout layout = new StepLayout(shape, 0, 4, false, false, List.of(), GivenInput.NOTHING);
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 3, memory);
            layout.writeChoices(
                    List.of(
                            TokenSampling.GREEDY,
                            new TokenSampling(
                                    SamplingParams.greedyBuilder()
                                            .temperature(0.5f)
                                            .topK(40)
                                            .topP(0.75f)
                                            .minP(0.25f)
                                            .seed(1L << 40)
                                            .build(),
                                    3),
                            new TokenSampling(
                                    SamplingParams.greedyBuilder()
                                            .temperature(0.5f)
                                            .topK(7)
                                            .build(),
                                    0)),
                    BitSet.valueOf(new long[] {0b010}),
                    memory);
            assertEquals(0, layout.choices() % 16);
            int[] second = ints(memory, layout.choices() + 40, 9);
            int[] expected = {
                Float.floatToIntBits(0.5f),
                40,
                Float.floatToIntBits(0.75f),
                Float.floatToIntBits(0.25f),
                0,
                1 << 8,
                3,
                0,
                1
            };
            assertArrayEquals(expected, second);
            assertEquals(0, ints(memory, layout.choices() + 3 * 40, 1)[0], "temperature of a row without a sequence");
            assertEquals(0, ints(memory, layout.steps(), 1)[0]);
        }
    }

    @Test
    void inAStepWithPromptsEachWantedRowHasAChoice() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = input(new int[] {4, 5, 6, 7, 8, 9}, new int[] {9});
            StepShape shape = StepShape.of(in.tokenCount(), 2, 2).sampling(1);
            StepLayout plain =
                    new StepLayout(new StepShape(8, 2, false), 4, 4, false, false, List.of(), GivenInput.NOTHING);
            StepLayout layout = new StepLayout(shape, 4, 4, false, false, List.of(), GivenInput.NOTHING);
            assertEquals(plain.bytes() + 2 * 40 + 16, layout.bytes());
            assertEquals(plain.bytes(), layout.choices());
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 2, memory);
            layout.writeChoices(
                    List.of(
                            TokenSampling.GREEDY,
                            new TokenSampling(
                                    SamplingParams.greedyBuilder()
                                            .temperature(0.5f)
                                            .topK(1)
                                            .seed(6)
                                            .build(),
                                    2)),
                    new BitSet(),
                    memory);
            assertEquals(0, ints(memory, layout.choices(), 1)[0]);
            assertArrayEquals(
                    new int[] {Float.floatToIntBits(0.5f), 1, Float.floatToIntBits(1), 0, 6, 0, 2, 0, 0},
                    ints(memory, layout.choices() + 40, 9));
        }
    }

    @Test
    void tokensOfAStepAreReadFromItsPlaceInTheRing() {
        try (Arena arena = Arena.ofConfined()) {
            StepShape shape = StepShape.of(3, 3, 3).sampling(1);
            MemorySegment memory = arena.allocate(TokenRing.bytes(shape.rows()), 64);
            int step = 2 * TokenRing.STEPS + 5;
            memory.set(ValueLayout.JAVA_INT, 0, step + 1);
            for (int row = 0; row < 4; row++) {
                memory.set(ValueLayout.JAVA_INT, TokenRing.ids() + 4 * (5 * 4 + row), 100 + row);
            }
            assertEquals(step + 1, TokenRing.arrived(memory));
            int[] tokens = new int[3];
            TokenRing.read(memory, step, shape, tokens, 3);
            assertArrayEquals(new int[] {100, 101, 102}, tokens);
            TokenRing.clear(memory);
            assertEquals(0, TokenRing.arrived(memory));
        }
    }

    @Test
    void aMaskFillsItsRow() {
        try (Arena arena = Arena.ofConfined()) {
            int width = 1024 + 70;
            MemorySegment memory =
                    arena.allocate(TokenMasks.bytes(3, width), 16).fill((byte) -1);
            assertEquals(3 * 2 * 128, memory.byteSize());
            long[] mask = new long[18];
            mask[1] = 1L << 40;
            mask[17] = 5;
            TokenMasks.write(memory, 1, width, mask);
            int[] bits = ints(memory, 256, 64);
            assertEquals(1 << 8, bits[3], "tokens 96 to 127");
            assertEquals(5, bits[34], "tokens from 1088 on");
            assertEquals(3, Arrays.stream(bits).map(Integer::bitCount).sum());
            assertEquals(-1, ints(memory, 252, 1)[0], "the row before");
            assertEquals(-1, ints(memory, 512, 1)[0], "the row after");
        }
    }

    @Test
    void whatADeviceCanChoose() {
        assertEquals(1, TokenRing.candidates(TokenSampling.GREEDY));
        assertEquals(
                40,
                TokenRing.candidates(new TokenSampling(
                        SamplingParams.greedyBuilder().temperature(1).topK(40).build(), 0)));
        assertEquals(
                0,
                TokenRing.candidates(new TokenSampling(
                        SamplingParams.greedyBuilder().temperature(1).topP(0.9f).build(), 0)),
                "all tokens");
        assertEquals(
                0,
                TokenRing.candidates(new TokenSampling(
                        SamplingParams.greedyBuilder().temperature(1).topK(257).build(), 0)));
    }

    @Test
    void onlyChangedPagesTravel() {
        try (Arena arena = Arena.ofConfined()) {
            PageTables tables = new PageTables(8, 0);
            MemorySegment memory = arena.allocate(2 * 8 * 4, 16);
            StepInput in = new StepInput();
            in.addSequence(new int[] {3, 5});
            in.addToken(1, 70, true);
            in.addSequence(new int[] {0, 6});
            in.addToken(1, 64, true);
            tables.write(in, 1, memory);
            assertEquals(0, tables.from());
            assertEquals((8 + 2) * 4, tables.bytes());
            assertArrayEquals(new int[] {3, 5, 0, 0, 0, 0, 0, 0, 0, 6}, ints(memory, 0, 10));
            tables.write(in, 1, memory);
            assertEquals(0, tables.bytes());
            in.clear();
            in.addSequence(new int[] {3, 5, 7});
            in.addToken(1, 70, true);
            tables.write(in, 58, memory);
            assertEquals(0, tables.bytes(), "57 positions further is still on page 1");
            tables.write(in, 59, memory);
            assertEquals(8, tables.from());
            assertEquals(4, tables.bytes());
        }
    }

    @Test
    void tablesOfWindowPagesFollowTheOthers() {
        try (Arena arena = Arena.ofConfined()) {
            PageTables tables = new PageTables(2, 2);
            MemorySegment memory = arena.allocate(2 * 2 * 2 * 4, 16);
            StepInput in = new StepInput();
            in.addSequence(new int[] {3, 5}, new int[] {0, 4}, StepInput.NO_SLOT, new float[0]);
            in.addToken(1, 70, true);
            in.addSequence(new int[] {6}, new int[] {2}, StepInput.NO_SLOT, new float[0]);
            in.addToken(1, 7, true);
            tables.write(in, 1, memory);
            assertArrayEquals(new int[] {3, 5, 6, 0, 0, 4, 2, 0}, ints(memory, 0, 8));
            assertEquals(0, tables.from());
            assertEquals(7 * 4, tables.bytes());
        }
    }

    @Test
    void runsHoldTheRowsAndTheSlotOfASequence() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = new StepInput();
            in.addSequence(new int[] {0}, 7);
            in.addSequence(new int[] {1}, 4);
            in.addToken(100, 0, false);
            in.addToken(101, 1, true);
            in.addSequence(new int[] {2}, 2);
            in.addToken(102, 30, true);
            StepShape shape = StepShape.of(in.tokenCount(), in.logitRows(), 2);
            StepLayout layout = new StepLayout(shape, 0, 3, false, true, List.of(), GivenInput.NOTHING);
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 2, memory);
            assertArrayEquals(new int[] {0, 0, 1, -1}, ints(memory, layout.runOfRow(), 4));
            assertEquals(3, layout.runCount());
            assertArrayEquals(new int[] {0, 2, 4, 0, 2, 1, 2, 0, 0, 0, 0, 0}, ints(memory, layout.runs(), 12));
        }
    }

    @Test
    void rowsHaveTheWeightsOfTheirSequencesAdapters() {
        try (Arena arena = Arena.ofConfined()) {
            StepInput in = new StepInput();
            in.addSequence(new int[] {0}, StepInput.NO_SLOT, new float[] {1, 0.5f});
            in.addToken(100, 0, false);
            in.addToken(101, 1, true);
            in.addSequence(new int[] {1}, StepInput.NO_SLOT, new float[] {-2});
            in.addToken(102, 0, true);
            List<AdapterFactor> factors = List.of(new AdapterFactor(0, 3), new AdapterFactor(1, 2));
            StepLayout layout = new StepLayout(StepShape.of(3, 2, 2), 0, 3, false, false, factors, GivenInput.NOTHING);
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 2, memory);
            assertArrayEquals(new float[] {3, 3, -6, 0}, floats(memory, layout.scales(0, false), 4));
            assertArrayEquals(new float[] {1, 1, 0, 0}, floats(memory, layout.scales(1, false), 4));
            assertArrayEquals(new float[] {3, -6}, floats(memory, layout.scales(0, true), 2));
            assertArrayEquals(new float[] {1, 0}, floats(memory, layout.scales(1, true), 2));
            StepLayout further =
                    new StepLayout(new StepShape(0, 2, false), 0, 3, false, false, factors, GivenInput.NOTHING);
            further.write(in, 1, 1, memory);
            assertArrayEquals(new float[] {-6, 0}, floats(memory, further.scales(0, true), 2));
        }
    }

    private static float[] floats(MemorySegment memory, long offset, int count) {
        return memory.asSlice(offset, 4L * count).toArray(ValueLayout.JAVA_FLOAT);
    }
}
