package dev.tenon.kernels.x86.cpu;

import dev.tenon.api.error.TenonException;
import java.util.Set;

/// What this machine can run.
public final class Here {
    /// The feature sets whose code can be run; none where no code can be generated.
    public static final Set<FeatureSet> SETS = sets();

    private Here() {}

    private static Set<FeatureSet> sets() {
        try {
            return CpuFeatures.detect().sets();
        } catch (TenonException e) {
            return Set.of();
        }
    }
}
