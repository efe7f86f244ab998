package org.example.tracing;

import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import java.util.Optional;

/// The other backend's plan, with a clock around each step.
///
/// @param traced the other plan; closed with this one
/// @param trace receives the steps; borrowed
record TracingPlan(Plan traced, TraceFile trace) implements Plan {
    @Override
    public StepResult run(StepInput input) {
        long begin = System.nanoTime();
        StepResult result = traced.run(input);
        trace.add(kind(input), input, (System.nanoTime() - begin) / 1000);
        return result;
    }

    /// {@return `decode` when every sequence adds one token, `prefill` when none does, else
    /// `mixed`}
    ///
    /// @param input the step
    static String kind(StepInput input) {
        int[] tokens = new int[input.sequenceCount()];
        for (int t = 0; t < input.tokenCount(); t++) {
            tokens[input.sequence(t)]++;
        }
        int single = 0;
        for (int count : tokens) {
            single += count == 1 ? 1 : 0;
        }
        return single == tokens.length ? "decode" : single == 0 ? "prefill" : "mixed";
    }

    @Override
    public KvPages kvPages() {
        return traced.kvPages();
    }

    @Override
    public Optional<StateSlots> states() {
        return traced.states();
    }

    @Override
    public PlanReport report() {
        return traced.report();
    }

    @Override
    public Optional<PlanProfiler> profiler() {
        return traced.profiler();
    }

    @Override
    public void close() {
        traced.close();
    }
}
