package dev.tenon.platform.contracts.itest;

import dev.tenon.api.bundle.BundleSettings;
import dev.tenon.itest.testkit.BundleSettingsContract;
import java.util.Objects;

/// The contract of settings for those that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedSettingsContract extends BundleSettingsContract {
    private static volatile BundleSettings selected;

    private final BundleSettings settings = Objects.requireNonNull(selected, "nothing is selected");

    static void select(BundleSettings next) {
        selected = next;
    }

    @Override
    protected BundleSettings settings() {
        return settings;
    }
}
