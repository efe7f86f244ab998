package dev.tenon.platform.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.osgi.framework.Bundle;
import org.osgi.framework.FrameworkUtil;

/// A folder for temporary files of commands.
///
/// The folder lies in the working folder of the process: whatever is left there goes when the
/// process ends, and when it was killed, with the start of a later one. Only its owner can enter
/// it. Safe for any thread.
public final class WorkFolder {
    private WorkFolder() {}

    /// {@return the folder, which is there; without a framework the one for temporary files}
    ///
    /// @throws IOException if it cannot be made
    public static Path path() throws IOException {
        File folder = ofFramework();
        return folder == null
                ? Path.of(System.getProperty("java.io.tmpdir"))
                : Files.createDirectories(folder.toPath().toAbsolutePath());
    }

    private static File ofFramework() {
        try {
            Bundle bundle = FrameworkUtil.getBundle(WorkFolder.class);
            return bundle == null ? null : bundle.getDataFile("work");
        } catch (NoClassDefFoundError withoutFramework) {
            return null;
        }
    }
}
