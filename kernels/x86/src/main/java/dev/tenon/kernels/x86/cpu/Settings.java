package dev.tenon.kernels.x86.cpu;

import java.util.Locale;

/// The settings of this module: system properties, or variables of the environment.
public final class Settings {
    /// What all names begin with.
    public static final String PREFIX = "tenon.kernels.x86";

    private Settings() {}

    /// {@return a setting's value}
    ///
    /// @param name the system property; the variable has its name in capitals with underscores
    /// @param fallback what it is if neither is set
    public static String of(String name, String fallback) {
        String variable = name.toUpperCase(Locale.ROOT).replace('.', '_');
        return System.getProperty(name, System.getenv().getOrDefault(variable, fallback));
    }
}
