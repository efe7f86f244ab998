package dev.tenon.platform.core.control;

import java.nio.file.Path;
import java.util.Map;

/// Where a user's own files are, by the rules of the XDG base directories. The home folder is the system property
/// `user.home`, which `bin/tenon` sets to `$HOME`.
public final class UserFolders {
    private UserFolders() {}

    /// {@return the user's home folder}
    public static Path home() {
        return Path.of(System.getProperty("user.home"));
    }

    /// {@return Tenon's folder for what can be had again: models and caches}
    ///
    /// @param environment environment variables
    public static Path cache(Map<String, String> environment) {
        return folder(environment.get("XDG_CACHE_HOME"), ".cache");
    }

    /// {@return Tenon's folder for what is kept from one process to the next}
    ///
    /// @param environment environment variables
    public static Path state(Map<String, String> environment) {
        return folder(environment.get("XDG_STATE_HOME"), ".local/state");
    }

    /// {@return a path as a user wrote it, with the home folder for `~` at its start}
    ///
    /// @param text the path
    /// @throws java.nio.file.InvalidPathException if it is none
    public static Path path(String text) {
        return text.equals("~") || text.startsWith("~/")
                ? home().resolve(text.substring(Math.min(2, text.length())))
                : Path.of(text);
    }

    /// One that is not absolute is to be ignored.
    private static Path folder(String named, String standard) {
        boolean holds = named != null && !named.isBlank() && Path.of(named).isAbsolute();
        return (holds ? Path.of(named) : home().resolve(standard)).resolve("tenon");
    }
}
