package dev.tenon.itest.golden;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Session.Rows;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.StandaloneEngine;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A thread that computes on the CPU itself is interrupted in the middle of it, and its session goes on as if nothing
/// had been.
class InterruptedCallsTests {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptedEvaluationLeavesNoTrace(boolean virtual) throws Exception {
        try (Engine engine = StandaloneEngine.create(Map.of());
                LoadedModel model = engine.load(LoadRequest.builder(GoldenData.embeddedModel())
                        .maxBatchTokens(8)
                        .build());
                Session session = model.newSession();
                Session undisturbed = model.newSession()) {
            int[] start = model.tokenizer().encode("Once upon a time there was a king", true, false);
            int[] rest = model.tokenizer().encode(" who had three sons, and the youngest", false, false);
            session.evaluate(start, Rows.NONE, (index, row) -> {});
            int[] heard = new int[1];
            FutureTask<Void> call = new FutureTask<>(
                    () -> session.evaluate(new int[400], Rows.ALL, (index, row) -> {
                        heard[0]++;
                        Thread.currentThread().interrupt();
                    }),
                    null);
            Thread thread = virtual ? Thread.ofVirtual().unstarted(call) : new Thread(call);
            thread.start();
            ExecutionException e = assertThrows(ExecutionException.class, call::get);
            assertEquals(ErrorCode.INTERRUPTED, ((TenonException) e.getCause()).code());
            assertEquals(8, heard[0], "rows of the step that was running");
            assertEquals(start.length, session.length());

            float[][] logits = new float[2][];
            session.evaluate(rest, Rows.LAST, (index, row) -> logits[0] = row.clone());
            undisturbed.evaluate(start, Rows.NONE, (index, row) -> {});
            undisturbed.evaluate(rest, Rows.LAST, (index, row) -> logits[1] = row.clone());
            assertTrue(logits[0].length > 1000);
            assertArrayEquals(logits[1], logits[0]);
        }
    }
}
