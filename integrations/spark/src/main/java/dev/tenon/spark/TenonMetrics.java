package dev.tenon.spark;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.LongAccumulator;

/// What an application's models did, as accumulators named `tenon.…`, which the pages of stages show,
/// too. Those of one application are shared by all transforms and catalogs. Tasks that failed count
/// nothing; rows that are computed twice count twice.
///
/// @param models models that were loaded
/// @param rows rows with an answer
/// @param errors rows with an error
/// @param inputTokens tokens of rows that were run
/// @param cachedTokens tokens of rows that had been run for another one
/// @param outputTokens tokens of answers
/// @param waitNanos time that tasks waited for answers
public record TenonMetrics(
        LongAccumulator models,
        LongAccumulator rows,
        LongAccumulator errors,
        LongAccumulator inputTokens,
        LongAccumulator cachedTokens,
        LongAccumulator outputTokens,
        LongAccumulator waitNanos)
        implements Serializable {
    private static final Map<SparkContext, TenonMetrics> ALL = new WeakHashMap<>();

    /// {@return the metrics of an application}
    ///
    /// @param session any session of it
    public static TenonMetrics of(SparkSession session) {
        synchronized (ALL) {
            return ALL.computeIfAbsent(
                    session.sparkContext(),
                    context -> new TenonMetrics(
                            context.longAccumulator("tenon.models"),
                            context.longAccumulator("tenon.rows"),
                            context.longAccumulator("tenon.errors"),
                            context.longAccumulator("tenon.inputTokens"),
                            context.longAccumulator("tenon.cachedTokens"),
                            context.longAccumulator("tenon.outputTokens"),
                            context.longAccumulator("tenon.waitNanos")));
        }
    }

    /// Sets all to 0.
    public void reset() {
        List.of(models, rows, errors, inputTokens, cachedTokens, outputTokens, waitNanos)
                .forEach(LongAccumulator::reset);
    }

    void add(RowEngine.Answer answer, long nanos) {
        (answer.error() == null ? rows : errors).add(1L);
        inputTokens.add((long) answer.inputTokens());
        cachedTokens.add((long) answer.cachedTokens());
        outputTokens.add((long) answer.outputTokens());
        waitNanos.add(nanos);
    }
}
