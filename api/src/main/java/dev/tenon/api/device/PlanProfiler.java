package dev.tenon.api.device;

import org.osgi.annotation.versioning.ConsumerType;

/// Measures the single kernels of a plan. Safe for any thread; both methods wait for a running step.
@ConsumerType
public interface PlanProfiler {
    /// Begins to measure and forgets what was measured before.
    void start();

    /// Ends measuring, after which runs cost no more than without a profiler.
    ///
    /// @return what was measured since [#start()]; all zero if it was not called
    PlanProfile stop();
}
