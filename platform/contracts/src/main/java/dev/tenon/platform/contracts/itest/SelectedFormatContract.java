package dev.tenon.platform.contracts.itest;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.QuantFormatContract;
import java.util.Objects;

/// The format contract for the format that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedFormatContract extends QuantFormatContract {
    private static volatile QuantFormat selected;

    private final QuantFormat format = Objects.requireNonNull(selected, "nothing is selected");

    static void select(QuantFormat next) {
        selected = next;
    }

    @Override
    protected QuantFormat format() {
        return format;
    }
}
