package dev.tenon.platform.bundles.control;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.osgi.framework.BundleContext;

/// Tells installations apart: the real path of an installation's folder, and what the file system identifies that
/// folder by. A copy has another path, and a tree that took the place of one that runs another identity.
final class HomeMark {
    private HomeMark() {}

    /// {@return the mark of an installation, one line}
    ///
    /// @param context of a bundle of it
    /// @throws TenonException (`BUNDLE-004`) if its folder cannot be read
    static String of(BundleContext context) {
        return of(Path.of(String.valueOf(context.getProperty("tenon.home"))));
    }

    static String of(Path home) {
        try {
            Path real = home.toRealPath();
            Object key = Files.readAttributes(real, BasicFileAttributes.class).fileKey();
            return (real + (key == null ? "" : " " + key)).replaceAll("\\R", " ");
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.CONTROL, "The folder of this installation cannot be read: " + e.getMessage(), e);
        }
    }
}
