package dev.tenon.platform.contracts.itest;

import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.itest.testkit.BundleChangeListenerContract;
import java.util.Objects;

/// The contract of listeners for the one that the command was told. JUnit makes the object, so what it is
/// about comes through [#select]; one run at a time.
final class SelectedListenerContract extends BundleChangeListenerContract {
    private static volatile BundleChangeListener selected;

    private final BundleChangeListener listener = Objects.requireNonNull(selected, "nothing is selected");

    static void select(BundleChangeListener next) {
        selected = next;
    }

    @Override
    protected BundleChangeListener listener() {
        return listener;
    }
}
