package dev.tenon.api.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.tenon.api.graph.Activation;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import java.util.List;
import org.junit.jupiter.api.Test;

class ValuePoolTests {
    private final GraphBuilder b = new GraphBuilder("test");
    private final Value x = b.embedding("x", new Weight("table", 12, 50));
    private final Value y = b.activate("y", x, Activation.SILU);
    private final Value z = b.activate("z", y, Activation.SILU);
    private final Value sum = b.add("sum", z, y);
    private final Graph graph = b.build(sum);

    private final ValuePool<StringBuilder> pool =
            new ValuePool<>(graph.ops(), List.of(sum), (purpose, width, selected) -> new StringBuilder(purpose));

    private StringBuilder define(int op, Value value) {
        StringBuilder memory = pool.define(value, false);
        pool.releaseAfter(graph.ops().get(op), op);
        return memory;
    }

    @Test
    void aValueThatNothingReadsAnyMoreGivesItsMemoryToTheNext() {
        StringBuilder ofX = define(0, x);
        StringBuilder ofY = define(1, y);
        assertNotSame(ofX, ofY, "both live at the op that reads one and writes the other");
        assertNull(pool.get(x), "read for the last time");
        assertSame(ofX, define(2, z));
        assertEquals("sum", define(3, sum).toString(), "z and y lived until then");
        assertEquals(3, pool.all().size());
        assertSame(pool.all().getLast(), pool.get(sum), "an output lives to the end");
    }

    @Test
    void rowsOfOtherWidthsOrOtherTokensAreNotShared() {
        StringBuilder narrow = pool.temporary(3, false);
        pool.release(narrow);
        assertNotSame(narrow, pool.temporary(4, false));
        assertNotSame(narrow, pool.temporary(3, true));
        assertSame(narrow, pool.temporary(3, false));
    }

    @Test
    void sharedMemoryIsReleasedWithTheLastValueInIt() {
        StringBuilder ofX = pool.define(x, false);
        pool.releaseAfter(graph.ops().get(0), 0);
        pool.share(y, ofX);
        pool.releaseAfter(graph.ops().get(1), 1);
        assertSame(ofX, pool.get(y));
        StringBuilder ofZ = define(2, z);
        define(3, sum);
        assertSame(ofZ, pool.temporary(12, false));
        assertSame(ofX, pool.temporary(12, false));
        assertEquals("temporary", pool.temporary(12, false).toString(), "released once");
    }
}
