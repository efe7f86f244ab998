package dev.tenon.api.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WindowLayersTests {
    private static AttentionParams.Builder attention() {
        return AttentionParams.builder(2, 2, 1);
    }

    @Test
    void layersAreThoseAllOfWhoseAttentionIsBounded() {
        GraphBuilder g = new GraphBuilder("windows");
        Weight table = new Weight("table", 8, 10);
        Value x = g.embedding("x", table);
        x = g.attention("whole", x, x, x, 0, attention().build());
        x = g.attention("window", x, x, x, 1, attention().slidingWindow(5).build());
        x = g.attention("chunk", x, x, x, 2, attention().chunk(4).build());
        Value kv = x;
        x = g.attention("mixed", x, kv, kv, 3, attention().slidingWindow(5).build());
        x = g.attention("mixed too", x, kv, kv, 3, attention().build());
        WindowLayers windows = WindowLayers.of(g.build(g.linear("logits", x, table, Optional.empty())));
        assertEquals(
                List.of(1, 2),
                windows.layers().stream().map(CoreOp.Attention::layer).toList());
        assertEquals(5, windows.span());
        assertEquals(7, windows.firstSeen(11)); // the window; the chunk begins at 8
        assertEquals(8, windows.firstSeen(12)); // both
        assertEquals(11, new WindowLayers(List.of(), List.of()).firstSeen(11));
    }

    @Test
    void windowPagesAreCheckedWhereAPlanHasThem() {
        PlanOptions options =
                PlanOptions.builder(100).maxSequences(2).windowTokens(9).build();
        assertEquals(2 * 2 + 1 + 3, options.windowPages(4));
        assertEquals(0, PlanOptions.builder(100).build().windowPages(4));
        StepInput input = new StepInput();
        input.addSequence(new int[] {20, 21}, new int[] {0, 8}, StepInput.NO_SLOT, new float[0]);
        input.addToken(1, 5, true);
        new StepCheck(options, 4, 25, 10, 0).check(input);
        new StepCheck(options, 4, 25, 10, 0, 9).check(input);
        assertThrows(IllegalArgumentException.class, () -> new StepCheck(options, 4, 25, 10, 0, 8).check(input));
    }
}
