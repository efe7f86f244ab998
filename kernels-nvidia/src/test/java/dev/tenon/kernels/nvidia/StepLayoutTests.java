package dev.tenon.kernels.nvidia;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.device.StepInput;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
            StepLayout layout = new StepLayout(shape, 0, 2);
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
            StepLayout layout = new StepLayout(new StepShape(0, 2, false), 0, 4);
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
            StepLayout layout = new StepLayout(shape, 8, 3);
            assertEquals(16 / 8 + 3, layout.tileCount());
            MemorySegment memory = arena.allocate(layout.bytes(), 16).fill((byte) 9);
            layout.write(in, 0, 0, memory);
            assertArrayEquals(
                    new int[] {10, 1, 1, 40, 11, 2, 2, 20, 8, 2, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0},
                    ints(memory, layout.tiles(), 20));
        }
    }

    @Test
    void onlyChangedPagesTravel() {
        try (Arena arena = Arena.ofConfined()) {
            PageTables tables = new PageTables(8);
            MemorySegment memory = arena.allocate(2 * 8 * 4, 16);
            StepInput in = new StepInput();
            in.addSequence(new int[] {3, 5});
            in.addToken(1, 70, true);
            in.addSequence(new int[] {0, 6});
            in.addToken(1, 64, true);
            tables.write(in, memory);
            assertEquals(0, tables.from());
            assertEquals((8 + 2) * 4, tables.bytes());
            assertArrayEquals(new int[] {3, 5, 0, 0, 0, 0, 0, 0, 0, 6}, ints(memory, 0, 10));
            tables.write(in, memory);
            assertEquals(0, tables.bytes());
        }
    }
}
