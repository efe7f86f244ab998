package dev.tenon.platform.contracts.itest;

import dev.tenon.api.metrics.MetricsExporter;
import dev.tenon.itest.testkit.MetricsExporterContract;
import java.util.Objects;

/// The contract of exporters for the one that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedExporterContract extends MetricsExporterContract {
    private static volatile MetricsExporter selected;

    private final MetricsExporter exporter = Objects.requireNonNull(selected, "nothing is selected");

    static void select(MetricsExporter next) {
        selected = next;
    }

    @Override
    protected MetricsExporter exporter() {
        return exporter;
    }
}
