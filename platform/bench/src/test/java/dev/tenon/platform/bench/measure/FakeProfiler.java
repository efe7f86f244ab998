package dev.tenon.platform.bench.measure;

import dev.tenon.api.device.PlanProfile;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Support;
import java.util.List;

/// Claims that a plan of two layers ran once for each start.
public final class FakeProfiler implements PlanProfiler {
    /// How often it was started.
    public int starts;

    private boolean on;

    static PlanReport.Kernel step(String op, String name, String kernel) {
        return new PlanReport.Kernel(op, name, kernel, Support.Level.FAST);
    }

    @Override
    public void start() {
        on = true;
        starts++;
    }

    @Override
    public PlanProfile stop() {
        if (!on) {
            throw new IllegalStateException("stopped without a start");
        }
        on = false;
        return new PlanProfile(
                1,
                1,
                1200,
                List.of(
                        new PlanProfile.Entry(step("linear_add", "blk.0.ffn_down.weight", "q6_k.fake"), 1, 400, 4000),
                        new PlanProfile.Entry(step("linear_add", "blk.1.ffn_down.weight", "q6_k.fake"), 1, 600, 4000),
                        new PlanProfile.Entry(step("linear", "output.weight", "q6_k.fake"), 1, 100, 900)));
    }
}
