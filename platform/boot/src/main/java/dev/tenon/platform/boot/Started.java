package dev.tenon.platform.boot;

import java.nio.file.Path;
import org.osgi.annotation.versioning.ProviderType;

/// A service that the launcher registers when the platform has started and its folders are watched.
/// What needs it begins after that, so that the first answer does not wait.
@ProviderType
public interface Started {
    /// {@return the folder of the installation}
    Path home();
}
