package dev.tenon.platform.cli.config;

import dev.tenon.api.engine.Engine;
import dev.tenon.platform.core.control.EngineControl;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Finds `TENON_*` variables that no declared setting reads, such as misspelt ones.
public final class UnknownVariables {
    /// Prefixes of variables that are read elsewhere; `TENON_HOME` by people's scripts, as the documentation names it.
    private static final List<String> OTHERS = List.of("TENON_PREFER_", "TENON_BUNDLES_", "TENON_SERVE_", "TENON_HOME");

    private UnknownVariables() {}

    /// {@return the variables, sorted}
    ///
    /// @param environment names of environment variables
    /// @param engine knows what is declared; where it does not tell, nothing is unknown
    public static List<String> find(Collection<String> environment, Engine engine) {
        List<String> unknown = environment.stream()
                .filter(name -> name.startsWith("TENON_") && !OwnSettings.reads(name))
                .filter(name -> OTHERS.stream().noneMatch(name::startsWith))
                .sorted()
                .toList();
        if (unknown.isEmpty() || !(engine instanceof EngineControl control)) {
            return List.of();
        }
        Set<String> declared = control.settings(Map.of()).stream()
                .map(value -> value.setting())
                .flatMap(setting -> Stream.concat(Stream.of(setting.variable()), setting.environment().stream()))
                .collect(Collectors.toSet());
        return unknown.stream().filter(name -> !declared.contains(name)).toList();
    }
}
