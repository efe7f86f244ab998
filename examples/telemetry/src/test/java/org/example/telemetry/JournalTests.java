package org.example.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.itest.testkit.BundleChangeListenerContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTests extends BundleChangeListenerContract {
    @TempDir
    Path folder;

    @Override
    protected BundleChangeListener listener() {
        new TelemetrySettings()
                .configured(Map.of("telemetry.journal", folder.resolve("journal.tsv").toString()));
        return new Journal();
    }

    @Test
    void aChangeIsALine() throws IOException {
        BundleChangeListener journal = listener();
        journal.changed(new BundleChange(BundleChange.Kind.UPDATED, "a.b", "2.0.0", "1.0.0", "a.b\twas\nreplaced"));
        journal.changed(new BundleChange(BundleChange.Kind.REMOVED, "a.b", "2.0.0", "", "a.b was removed"));
        assertEquals(
                List.of("\tUPDATED\ta.b\t1.0.0\t2.0.0\ta.b was replaced", "\tREMOVED\ta.b\t\t2.0.0\ta.b was removed"),
                Files.readAllLines(folder.resolve("journal.tsv")).stream()
                        .map(line -> line.substring(line.indexOf('\t')))
                        .toList());
    }
}
