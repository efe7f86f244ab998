package dev.tenon.platform.launcher;

import dev.tenon.platform.launcher.home.PlatformException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/// What the build wrote into the launcher's jar.
final class BuildProperties {
    private static final String FILE = "build.properties";

    private BuildProperties() {}

    /// {@return a property}
    ///
    /// @param name its name
    /// @throws PlatformException if the jar is damaged
    static String get(String name) {
        try (InputStream in = BuildProperties.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new PlatformException("The launcher's jar is damaged: " + FILE + " is missing.");
            }
            Properties all = new Properties();
            all.load(in);
            return all.getProperty(name);
        } catch (IOException e) {
            throw new PlatformException("The launcher's jar is damaged: " + e.getMessage() + ".");
        }
    }
}
