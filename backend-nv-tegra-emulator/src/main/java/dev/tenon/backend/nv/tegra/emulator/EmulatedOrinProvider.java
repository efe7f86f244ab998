package dev.tenon.backend.nv.tegra.emulator;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.BoardProvider;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/// Offers an emulated Orin as the device `emulated`.
@Component(service = BoardProvider.class, property = "board.id=emulated")
@ServiceProvider(value = BoardProvider.class, resolution = Resolution.OPTIONAL)
public final class EmulatedOrinProvider implements BoardProvider {
    /// Creates the provider; a board is made when a device is opened.
    public EmulatedOrinProvider() {}

    @Override
    public String id() {
        return "emulated";
    }

    @Override
    public String description() {
        return "an emulated Orin: slow, for trying the backend out without a board.";
    }

    @Override
    public Board open(Map<String, String> settings) {
        return new EmulatedOrin(EmulatorOptions.orin());
    }
}
