package dev.tenon.platform.boot;

import java.nio.file.Path;
import org.osgi.annotation.versioning.ProviderType;

/// A service that the launcher registers when the platform has started and its folders are watched.
/// What needs it begins off the way of the first answer.
@ProviderType
public interface Started {
    /// {@return the folder of the installation}
    Path home();
}
