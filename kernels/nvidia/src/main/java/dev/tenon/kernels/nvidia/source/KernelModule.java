package dev.tenon.kernels.nvidia.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// One compilation: a source file with the macros that say which formats it is compiled for.
///
/// @param file source file, such as `linear.cu`
/// @param macros macros by name, in the order of their names; unmodifiable
public record KernelModule(String file, Map<String, String> macros) {
    /// Copies the map.
    public KernelModule {
        macros = java.util.Collections.unmodifiableMap(new TreeMap<>(macros));
    }

    /// {@return a module without macros}
    ///
    /// @param file source file
    public static KernelModule of(String file) {
        return new KernelModule(file, Map.of());
    }

    /// {@return a module for one weight format}
    ///
    /// @param file source file
    /// @param format format id
    public static KernelModule of(String file, String format) {
        return new KernelModule(file, Map.of("TENON_FORMAT", format));
    }

    /// {@return the name in messages and file names, such as `linear.Q6_K`}
    public String name() {
        List<String> parts = new ArrayList<>(List.of(file.substring(0, file.lastIndexOf('.'))));
        parts.addAll(macros.values());
        return String.join(".", parts);
    }

    /// {@return the macros as options of nvcc and NVRTC}
    public List<String> options() {
        return macros.entrySet().stream()
                .map(e -> "-D" + e.getKey() + "=" + e.getValue())
                .toList();
    }
}
