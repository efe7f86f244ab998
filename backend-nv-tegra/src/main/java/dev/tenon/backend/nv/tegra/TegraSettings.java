package dev.tenon.backend.nv.tegra;

import dev.tenon.api.config.Setting;
import dev.tenon.backend.nv.tegra.device.NvDevice;
import java.util.List;
import java.util.stream.Stream;

/// What can be set of the backend.
final class TegraSettings {
    /// All of them.
    static final List<Setting> ALL = Stream.concat(
                    NvDevice.SETTINGS.stream(),
                    Stream.of(
                            Setting.choice(
                                    TegraOptions.LAYOUT,
                                    "below-windows",
                                    List.of("below-windows", "reserved-windows"),
                                    "Where buffers and memory windows are; reserved-windows is what boards have run."),
                            Setting.integer(
                                    TegraOptions.RING, 1024, 2, 8192, "Entries of a channel's ring, a power of two."),
                            TegraOptions.ALIGN,
                            Setting.path(
                                    "nv-tegra.kernel-folder",
                                    "",
                                    "A folder of cubins that is looked into before the bundle."),
                            Setting.choice(
                                    "nv-tegra.kernels",
                                    "auto",
                                    List.of("auto", "cubins", "stand-ins"),
                                    "On the emulated board: cubins, no stand-ins; stand-ins, nothing else.")))
            .toList();

    private TegraSettings() {}
}
