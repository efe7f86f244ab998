package dev.tenon.platform.launcher.home;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/// The folders of an unpacked distribution.
///
/// @param root the distribution's own folder, absolute; never null
public record Home(Path root) {
    public Home {
        Objects.requireNonNull(root, "root");
        root = root.toAbsolutePath().normalize();
    }

    /// Finds the distribution: the system property `tenon.home`, or else the folder above the one
    /// that holds the launcher's jar.
    ///
    /// @throws PlatformException when the folder has no `bundles` folder
    public static Home find() {
        String given = System.getProperty("tenon.home");
        Path root;
        if (given != null && !given.isBlank()) {
            root = Path.of(given);
        } else {
            try {
                var source = Home.class.getProtectionDomain().getCodeSource().getLocation();
                Path lib = Path.of(source.toURI()).toAbsolutePath().getParent();
                root = lib.getParent() == null ? lib : lib.getParent();
            } catch (URISyntaxException e) {
                throw new PlatformException(
                        "The launcher cannot tell where it is installed. Pass -Dtenon.home=FOLDER.");
            }
        }
        Home home = new Home(root);
        if (!Files.isDirectory(home.bundles())) {
            throw new PlatformException("There is no folder " + home.bundles()
                    + ". -Dtenon.home must name an unpacked distribution, with bundles/, etc/ and deploy/ in it.");
        }
        return home;
    }

    public Path bin() {
        return root.resolve("bin");
    }

    public Path lib() {
        return root.resolve("lib");
    }

    public Path bundles() {
        return root.resolve("bundles");
    }

    public Path system() {
        return bundles().resolve("system");
    }

    /// Bundles that are not part of the distribution; the folder need not be there.
    public Path extras() {
        return bundles().resolve("extras");
    }

    public Path deploy() {
        return root.resolve("deploy");
    }

    public Path etc() {
        return root.resolve("etc");
    }

    /// Lists the files directly in a folder whose names end in `suffix`, by name; files whose names
    /// start with a dot are left out, and a missing folder is an empty one.
    public static List<Path> files(Path folder, String suffix) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                if (name.endsWith(suffix) && !name.startsWith(".")) {
                    found.add(entry);
                }
            }
        } catch (IOException e) {
            throw new PlatformException("The folder " + folder + " cannot be listed: " + e.getMessage() + ".");
        }
        Collections.sort(found);
        return found;
    }
}
