package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WeightTests {
    @Test
    void aMatrixIsOneSliceAndAWholeTensor() {
        Weight matrix = new Weight("w", 64, 32);
        assertEquals(1, matrix.slices());
        assertFalse(matrix.isView());
        assertEquals(matrix, matrix.tensor());
        assertEquals("w [64, 32]", matrix.toString());
        assertEquals(new Weight("v", 64, 1), Weight.vector("v", 64));
        assertTrue(Weight.vector("v", 64).isVector());
        assertFalse(matrix.isVector());
    }

    @Test
    void expertsAreSlices() {
        Weight experts = new Weight("w", 64, 32, 8);
        assertEquals(64L * 32 * 8, experts.elements());
        assertFalse(new Weight("w", 64, 1, 8).isVector());
        assertEquals("w [64, 32, 8]", experts.toString());
    }

    @Test
    void aViewKnowsItsTensorAndViewsOfViewsAddUp() {
        Weight tensor = new Weight("gate_up", 64, 32, 8);
        Weight up = tensor.rows(16, 32);
        assertTrue(up.isView());
        assertEquals(16, up.rows());
        assertEquals(16, up.firstRow());
        assertEquals(tensor, up.tensor());
        assertEquals(new Weight("gate_up", 64, 4, 8, 20, 32), up.rows(4, 8));
        assertEquals(tensor, tensor.rows(0, 32));
        assertEquals("gate_up [64, 16, 8] from row 16", up.toString());
    }

    @Test
    void impossibleShapesAndViewsAreRefusedByName() {
        for (Runnable impossible : new Runnable[] {
            () -> new Weight("blk.7.w", 0, 1),
            () -> new Weight("blk.7.w", 1, 0),
            () -> new Weight("blk.7.w", 1, 1, 0),
            () -> new Weight("blk.7.w", 4, 2, 1, 1, 2),
            () -> new Weight("blk.7.w", 4, Integer.MAX_VALUE, 1, 1, Integer.MAX_VALUE),
            () -> new Weight("blk.7.w", 4, 4).rows(2, 2),
            () -> new Weight("blk.7.w", 4, 4).rows(-1, 2),
            () -> new Weight("blk.7.w", 4, 4).rows(1, 3).rows(1, 3)
        }) {
            var e = assertThrows(IllegalArgumentException.class, impossible::run);
            assertTrue(e.getMessage().contains("blk.7.w"), e.getMessage());
        }
    }
}
