package dev.tenon.backend.nv.tegra;

import dev.tenon.backend.nv.tegra.gpu.AddressLayout;
import java.util.Map;

/// Choices of how a board is used.
///
/// @param layout where windows and buffers are in the address space
/// @param ringEntries entries of a channel's ring, a power of two up to 8192: the driver maps rings
///     into an area of its own, and one of 3 MB has frozen a machine
/// @param alignLarge whether buffers from 8 MiB are aligned to 2 MiB
/// @param timeoutMillis how long the GPU may take before it counts as hung
public record TegraOptions(AddressLayout layout, int ringEntries, boolean alignLarge, long timeoutMillis) {
    /// Setting: `below-windows` (default) or `reserved-windows`.
    static final String LAYOUT = "nv-tegra.layout";
    /// Setting: entries of a ring.
    static final String RING = "nv-tegra.ring-entries";
    /// Setting: whether large buffers are aligned.
    static final String ALIGN = "nv-tegra.align-large";
    /// Setting: milliseconds.
    static final String TIMEOUT = "nv-tegra.timeout-ms";

    private static final int MAX_RING = 8192;

    /// Checks the ring.
    public TegraOptions {
        if (ringEntries < 2 || ringEntries > MAX_RING || Integer.bitCount(ringEntries) != 1) {
            throw new IllegalArgumentException(
                    RING + " is " + ringEntries + "; expected a power of two from 2 to " + MAX_RING);
        }
        if (timeoutMillis < 1) {
            throw new IllegalArgumentException(TIMEOUT + " is " + timeoutMillis + "; expected at least 1");
        }
    }

    /// {@return what is used without settings}
    public static TegraOptions defaults() {
        return new TegraOptions(AddressLayout.BELOW_WINDOWS, 1024, true, 30_000);
    }

    /// {@return the choices in settings, defaults for the rest}
    ///
    /// @param settings by name
    /// @throws IllegalArgumentException if one is not understood
    public static TegraOptions of(Map<String, String> settings) {
        TegraOptions defaults = defaults();
        return new TegraOptions(
                settings.containsKey(LAYOUT) ? AddressLayout.of(settings.get(LAYOUT)) : defaults.layout,
                (int) number(settings, RING, defaults.ringEntries),
                Boolean.parseBoolean(settings.getOrDefault(ALIGN, Boolean.toString(defaults.alignLarge))),
                number(settings, TIMEOUT, defaults.timeoutMillis));
    }

    private static long number(Map<String, String> settings, String name, long otherwise) {
        String text = settings.get(name);
        if (text == null) {
            return otherwise;
        }
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is '" + text + "'; expected a number", e);
        }
    }
}
