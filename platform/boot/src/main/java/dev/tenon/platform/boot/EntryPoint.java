package dev.tenon.platform.boot;

import org.osgi.annotation.versioning.ConsumerType;

/// The command line, called by the launcher with the arguments of the process. Registered by a
/// bundle as a service; of several, the highest-ranked one is called.
@ConsumerType
public interface EntryPoint {
    /// Runs one command, on the main thread.
    ///
    /// @param args arguments of the process
    /// @return exit status of the process
    int run(String... args);
}
