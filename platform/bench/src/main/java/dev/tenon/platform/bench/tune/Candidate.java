package dev.tenon.platform.bench.tune;

import dev.tenon.api.config.Knob;
import dev.tenon.platform.core.tuned.TunedSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Settings that differ from the defaults. Immutable.
///
/// @param settings values by name; empty for the defaults themselves
record Candidate(Map<String, String> settings) {
    /// The defaults.
    static final Candidate DEFAULTS = new Candidate(Map.of());

    Candidate {
        settings = Map.copyOf(settings);
    }

    /// {@return these settings and one more}
    ///
    /// @param name name of a setting that is not among these
    /// @param value its value
    Candidate with(String name, String value) {
        Map<String, String> all = new HashMap<>(settings);
        all.put(name, value);
        return new Candidate(all);
    }

    /// {@return whether results must have the bits of the defaults' results}
    ///
    /// @param knobs what is tuned
    boolean keepsBits(List<Knob> knobs) {
        return knobs.stream().filter(k -> settings.containsKey(k.setting())).allMatch(Knob::keepsBits);
    }

    /// {@return whether kernels have to be compiled for it}
    ///
    /// @param knobs what is tuned
    boolean compiles(List<Knob> knobs) {
        return knobs.stream().filter(k -> settings.containsKey(k.setting())).anyMatch(Knob::compiles);
    }

    /// {@return the settings as `name=value name=value`, sorted}
    String text() {
        return settings.isEmpty() ? "defaults" : TunedSettings.line(settings);
    }
}
