package org.example.telemetry;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.bundle.BundleChangeListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import org.osgi.service.component.annotations.Component;

/// Writes bundles that come and go into the file that the setting `telemetry.journal` names, a line each: time, what,
/// bundle, version before, version, text, with tabs between them.
@Component(service = BundleChangeListener.class)
@ServiceProvider(value = BundleChangeListener.class, resolution = Resolution.OPTIONAL)
public final class Journal implements BundleChangeListener {
    @Override
    public void changed(BundleChange change) {
        String file = TelemetrySettings.value(TelemetrySettings.JOURNAL);
        if (file.isEmpty()) {
            return;
        }
        String line = String.join(
                "\t",
                Instant.now().toString(),
                change.kind().toString(),
                change.name(),
                change.oldVersion(),
                change.version(),
                change.text().replaceAll("\\s+", " "));
        try {
            Files.writeString(
                    Path.of(file), line + System.lineSeparator(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("The journal " + file + " cannot be written", e); // logged
        }
    }
}
