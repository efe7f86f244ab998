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

/// Writes bundles that come and go into the file that the environment variable `BUNDLE_JOURNAL` names, a line each:
/// time, what, bundle, version before, version, text, with tabs between them. Without the variable it does nothing.
@Component(service = BundleChangeListener.class)
@ServiceProvider(value = BundleChangeListener.class, resolution = Resolution.OPTIONAL)
public final class Journal implements BundleChangeListener {
    private final String file;

    /// Made by the framework, or by `ServiceLoader`.
    public Journal() {
        this(System.getenv("BUNDLE_JOURNAL"));
    }

    Journal(String file) {
        this.file = file;
    }

    @Override
    public void changed(BundleChange change) {
        if (file == null) {
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
