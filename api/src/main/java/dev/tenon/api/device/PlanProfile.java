package dev.tenon.api.device;

import java.util.List;

/// Where the time of a plan's runs went, added up from [PlanProfiler#start()] to [PlanProfiler#stop()].
///
/// @param runs number of runs
/// @param tokens tokens of all runs together
/// @param nanos time inside [Plan#run] in nanoseconds
/// @param entries one for each kernel of the plan, in the order of [PlanReport#steps()]; unmodifiable
public record PlanProfile(long runs, long tokens, long nanos, List<Entry> entries) {
    /// Copies the list.
    public PlanProfile {
        entries = List.copyOf(entries);
    }

    /// One kernel of the plan.
    ///
    /// @param step which one
    /// @param count how often it ran
    /// @param nanos time of all runs in nanoseconds, from its begin until all threads had ended it
    /// @param bytes bytes that all runs had to read at least: weights once a run, the rows of embedded
    ///     tokens, and in attention the cached keys and values of each sequence once a run
    public record Entry(PlanReport.Step step, long count, long nanos, long bytes) {}
}
