package dev.tenon.backend.nv.tegra;

import dev.tenon.api.config.Setting;
import dev.tenon.backend.nv.tegra.command.AddressLayout;
import java.util.Map;

/// Choices of how the GPU of an Orin is opened.
///
/// @param layout where windows and buffers are in the address space
/// @param ringEntries entries of a channel's ring, a power of two up to 8192: the driver maps rings
///     into an area of its own, and one of 3 MB has frozen a machine
/// @param alignLarge whether buffers from 8 MiB are aligned to 2 MiB
public record TegraOptions(AddressLayout layout, int ringEntries, boolean alignLarge) {
    /// Setting: `below-windows` (default) or `reserved-windows`.
    static final String LAYOUT = "nv-tegra.layout";
    /// Setting: entries of a ring.
    static final String RING = "nv-tegra.ring-entries";
    /// Setting: whether large buffers are aligned.
    static final Setting ALIGN = Setting.flag("nv-tegra.align-large", true, "Aligns buffers from 8 MiB to 2 MiB.");

    private static final int MAX_RING = 8192;

    /// Checks the ring.
    public TegraOptions {
        if (ringEntries < 2 || ringEntries > MAX_RING || Integer.bitCount(ringEntries) != 1) {
            throw new IllegalArgumentException(
                    RING + " is " + ringEntries + "; expected a power of two from 2 to " + MAX_RING);
        }
    }

    /// {@return what is used without settings}
    public static TegraOptions defaults() {
        return new TegraOptions(AddressLayout.BELOW_WINDOWS, 1024, true);
    }

    /// {@return the choices in settings, defaults for the rest}
    ///
    /// @param settings by name
    /// @throws IllegalArgumentException if one is not understood
    public static TegraOptions of(Map<String, String> settings) {
        TegraOptions defaults = defaults();
        return new TegraOptions(
                settings.containsKey(LAYOUT) ? AddressLayout.of(settings.get(LAYOUT)) : defaults.layout,
                number(settings, RING, defaults.ringEntries),
                ALIGN.isOn(settings));
    }

    private static int number(Map<String, String> settings, String name, int otherwise) {
        String text = settings.getOrDefault(name, Integer.toString(otherwise));
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is '" + text + "'; expected a number", e);
        }
    }
}
