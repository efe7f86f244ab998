package dev.tenon.itest.testkit;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// What every [BundleChangeListener] has to keep to. What it does with a change is its own.
public abstract class BundleChangeListenerContract extends ToldContract<BundleChange> {
    /// For subclasses.
    protected BundleChangeListenerContract() {}

    /// {@return what is under test}
    protected abstract BundleChangeListener listener();

    @Override
    final Consumer<BundleChange> told() {
        return listener()::changed;
    }

    @Override
    final Stream<BundleChange> events() {
        return Arrays.stream(BundleChange.Kind.values()).flatMap(kind -> {
            boolean had = kind == BundleChange.Kind.UPDATED || kind == BundleChange.Kind.REFUSED;
            return Stream.of(
                    new BundleChange(kind, "org.example.one", "1.2.3", had ? "1.0.0" : "", "it was " + kind),
                    new BundleChange(kind, "org.example.one", "1.2.3.qualifier-1", had ? "2.0.0" : "", "a\ttab, \"x\""),
                    new BundleChange(kind, "one.jar, two.jar", "", "", ""),
                    new BundleChange(kind, "übung", "0.0.0", "", "x".repeat(10_000)));
        });
    }
}
