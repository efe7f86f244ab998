package dev.tenon.api.device;

import java.util.List;

/// Where the time of a plan's steps went, added up from [PlanProfiler#start()] to [PlanProfiler#stop()].
///
/// @param steps number of steps
/// @param tokens tokens of all steps together
/// @param nanos time inside [Plan#run] in nanoseconds
/// @param entries one for each kernel of the plan, in the order of [PlanReport#kernels()]; unmodifiable
public record PlanProfile(long steps, long tokens, long nanos, List<Entry> entries) {
    /// Copies the list.
    public PlanProfile {
        entries = List.copyOf(entries);
    }

    /// One kernel of the plan.
    ///
    /// @param kernel which one
    /// @param count how often it ran
    /// @param nanos time of all steps in nanoseconds, from its begin until all threads had ended it
    /// @param bytes bytes that all steps had to read at least: weights once a step, the rows of embedded
    ///     tokens, and in attention the cached keys and values of each sequence once a step
    public record Entry(PlanReport.Kernel kernel, long count, long nanos, long bytes) {}
}
