package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.StepInput;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SequenceRowsTests {
    private final SequenceRows rows = new SequenceRows();

    private static RowBlock block(int length, int columns, boolean together) {
        return new RowBlock(
                IntStream.range(0, length).map(i -> -1 - i).toArray(),
                IntStream.range(0, length).mapToObj(i -> new float[] {i}).toList(),
                columns,
                together);
    }

    private static int[] place(SequenceRows rows, int index) {
        StepInput input = new StepInput();
        input.addSequence(new int[1]);
        input.addToken(0, index, false);
        rows.placeIn(input, index);
        return IntStream.range(0, 4).map(axis -> input.coordinate(0, axis)).toArray();
    }

    @Test
    void rowsStandInTheirPlaces() {
        RowBlock block = block(6, 0, false);
        rows.add(3, 9, block);
        assertNull(rows.row(2));
        assertSame(block.row(0), rows.row(3));
        assertSame(block.row(5), rows.row(8));
        assertNull(rows.row(9));
        assertArrayEquals(new int[] {9, 9, 9, 0}, place(rows, 9), "no axes: a place each");
    }

    @Test
    void picturesTakeTheirLongerSideOfPlaces() {
        rows.add(3, 9, block(6, 2, false)); // 3 lines of 2
        rows.add(10, 14, block(4, 4, false)); // one line
        assertArrayEquals(new int[] {2, 2, 2, 0}, place(rows, 2));
        assertArrayEquals(new int[] {3, 3, 3, 0}, place(rows, 3));
        assertArrayEquals(new int[] {3, 4, 4, 0}, place(rows, 6));
        assertArrayEquals(new int[] {3, 5, 4, 0}, place(rows, 8));
        assertArrayEquals(new int[] {6, 6, 6, 0}, place(rows, 9));
        assertArrayEquals(new int[] {7, 7, 7, 0}, place(rows, 10));
        assertArrayEquals(new int[] {7, 7, 10, 0}, place(rows, 13));
        assertArrayEquals(new int[] {11, 11, 11, 0}, place(rows, 14));
    }

    @Test
    void rowsThatSeeEachOtherAreNotCut() {
        rows.add(3, 9, block(6, 0, true));
        assertFalse(rows.cutAt(3));
        assertTrue(rows.cutAt(4));
        assertTrue(rows.cutAt(8));
        assertFalse(rows.cutAt(9));
        assertEquals(
                List.of(2, 3, 3, 3, 9),
                IntStream.of(2, 3, 5, 8, 9).map(rows::wholeTo).boxed().toList());
        assertEquals(
                List.of(2, 3, 9, 9, 9),
                IntStream.of(2, 3, 5, 8, 9).map(rows::wholeFrom).boxed().toList());
        StepInput input = new StepInput();
        input.addSequence(new int[1]);
        input.addToken(0, 5, false);
        rows.placeIn(input, 5);
        assertEquals(3, input.spanStart(0));
        assertEquals(8, input.spanEnd(0));
    }

    @Test
    void aBlockThatWasCutGoesOn() {
        RowBlock block = block(6, 2, false);
        rows.add(3, 9, block);
        rows.cut(5);
        assertSame(block.row(1), rows.row(4));
        assertNull(rows.row(5), "another token may come here");
        rows.add(3, 9, block);
        assertSame(block.row(2), rows.row(5));
        assertArrayEquals(new int[] {3, 5, 4, 0}, place(rows, 8));
        rows.cut(3);
        assertFalse(rows.any());
    }
}
