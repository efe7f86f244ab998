package dev.tenon.platform.contracts.itest;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendContract;
import dev.tenon.platform.contracts.compare.Tolerances;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// The backend contract for the backend that the command was told. JUnit makes the object, so what
/// it is about comes through [#select]; one run at a time.
final class SelectedBackendContract extends BackendContract {
    private static final int REPLAYS_A_ROUND = 10;

    private static volatile Selection selected;

    /// What to test.
    ///
    /// @param backend the backend
    /// @param device its device's id, or empty
    /// @param settings how it is opened
    /// @param formats formats to test with
    /// @param rounds how often devices and plans are opened and closed
    /// @param large whether sizes of real models are tested, too
    record Selection(
            Backend backend,
            String device,
            Map<String, String> settings,
            List<QuantFormat> formats,
            int rounds,
            boolean large) {}

    private final Selection selection = Objects.requireNonNull(selected, "nothing is selected");

    static void select(Selection next) {
        selected = next;
    }

    @Override
    protected Backend backend() {
        return selection.backend();
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return selection.formats();
    }

    @Override
    protected boolean mustBeAvailable() {
        return true;
    }

    @Override
    protected DeviceOptions deviceOptions() {
        return DeviceOptions.builder()
                .deviceId(selection.device())
                .settings(selection.settings())
                .build();
    }

    @Override
    protected boolean large() {
        return selection.large();
    }

    @Override
    protected int replays() {
        return REPLAYS_A_ROUND * selection.rounds();
    }

    @Override
    protected int openCloseRounds() {
        return selection.rounds();
    }

    @Override
    protected Set<PlanOptions.KvType> kvTypes() {
        return Tolerances.kvTypes(device());
    }

    private Tolerances tolerances() {
        return Tolerances.of(device().info().kind());
    }

    @Override
    protected double tolerance(String what, int n) {
        return tolerances().exact(n);
    }

    @Override
    protected double tolerance(String what, QuantFormat format, int n) {
        return tolerances().of(what, format, n);
    }
}
