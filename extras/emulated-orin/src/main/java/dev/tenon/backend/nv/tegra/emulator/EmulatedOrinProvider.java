package dev.tenon.backend.nv.tegra.emulator;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.config.Setting;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.BoardProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// Offers an emulated Orin as the device `emulated`.
@Component(service = BoardProvider.class, property = "board.id=emulated")
@ServiceProvider(value = BoardProvider.class, resolution = Resolution.OPTIONAL)
public final class EmulatedOrinProvider implements BoardProvider {
    /// Setting: a file that everything is recorded to that the GPU fetches.
    static final String RECORD = "emulated.record";

    /// Creates the provider; a board is made when a device is opened.
    public EmulatedOrinProvider() {}

    @Override
    public String id() {
        return "emulated";
    }

    @Override
    public List<Setting> settings() {
        return List.of(Setting.path(RECORD, "", "A file that takes down what the emulated board is told."));
    }

    @Override
    public String description() {
        return "an emulated Orin: slow, for trying the backend out without a board.";
    }

    @Override
    public Board open(Map<String, String> settings) {
        EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin());
        if (settings.containsKey(RECORD)) {
            boolean done = false;
            try {
                orin.recordTo(Path.of(settings.get(RECORD)));
                done = true;
            } catch (IOException e) {
                throw new IllegalArgumentException(
                        RECORD + " is '" + settings.get(RECORD) + "', which cannot be written: " + e.getMessage(), e);
            } finally {
                if (!done) {
                    orin.close();
                }
            }
        }
        return orin;
    }
}
