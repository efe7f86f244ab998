package dev.tenon.platform.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class MetricsTests {
    private static final String NAME = "gap_seconds";

    private final Metrics metrics = new Metrics("t:", null);

    private String text() {
        return PrometheusText.of(metrics.read());
    }

    @Test
    void timesFallIntoBucketsThatAddUp() {
        Histogram gaps = metrics.tokenTimes(NAME, "Help.", Metrics.labels("model_name", "a"));
        for (long micros : new long[] {50, 100, 101, 30_000, 100_000_000}) {
            gaps.recordNanos(micros * 1000);
        }
        String text = text();
        assertTrue(text.contains("# HELP t:gap_seconds Help.\n# TYPE t:gap_seconds histogram\n"), text);
        for (String line : new String[] {
            "_bucket{model_name=\"a\",le=\"1.0E-4\"} 2",
            "_bucket{model_name=\"a\",le=\"2.5E-4\"} 3",
            "_bucket{model_name=\"a\",le=\"0.05\"} 4",
            "_bucket{model_name=\"a\",le=\"40\"} 4",
            "_bucket{model_name=\"a\",le=\"+Inf\"} 5",
            "_count{model_name=\"a\"} 5"
        }) {
            assertTrue(text.contains("t:" + NAME + line + "\n"), text);
        }
    }

    @Test
    void anInfoIsToldWhileThereIsOne() {
        AtomicReference<String> more = new AtomicReference<>("");
        metrics.info("cache_info", "Help.", "", more::get);
        assertEquals("# HELP t:cache_info Help.\n# TYPE t:cache_info gauge\n", text());
        more.set(Metrics.labels("size", "a\"b\\"));
        assertTrue(text().endsWith("t:cache_info{size=\"a\\\"b\\\\\"} 1\n"), text());
    }

    /// It is done for each token of each reply, on the thread that reads the model's events.
    @Test
    void aTokensTimeIsRecordedWithoutAllocating() {
        Histogram gaps = metrics.tokenTimes(NAME, "Help.", "");
        assertSame(gaps, metrics.tokenTimes(NAME, "Help.", ""));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().threadId();
        long before = 0;
        for (int i = 0; i < 200_000; i++) {
            if (i == 100_000) {
                before = threads.getThreadAllocatedBytes(thread);
            }
            gaps.recordNanos(i * 1000L);
        }
        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertTrue(allocated < 100_000, allocated + " bytes for 100,000 tokens");
    }
}
