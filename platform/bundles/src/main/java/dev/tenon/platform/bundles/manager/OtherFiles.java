package dev.tenon.platform.bundles.manager;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What lies in `deploy/` and is no jar: folders and other files, of which FileInstall does not tell.
///
/// Looks once a second until it is closed, and logs a line for each one that came. Safe for any thread.
final class OtherFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OtherFiles.class);
    /// The distribution's own text in the folder.
    private static final String README = "README.md";

    private static final long SECOND = TimeUnit.SECONDS.toMillis(1);

    private final Path folder;
    private final Thread watch =
            Thread.ofPlatform().daemon().name("tenon-deploy").unstarted(this::run);

    /// Begins to look.
    ///
    /// @param folder where; need not be there
    OtherFiles(Path folder) {
        this.folder = folder;
        watch.start();
    }

    private void run() {
        Set<Path> known = new HashSet<>();
        try {
            while (true) {
                Thread.sleep(SECOND);
                Map<Path, String> found = find();
                known.retainAll(found.keySet());
                found.forEach((file, line) -> {
                    if (known.add(file)) {
                        LOG.warn(line);
                    }
                });
            }
        } catch (InterruptedException e) {
            LOG.debug("{} is no longer watched", folder);
        }
    }

    /// {@return a line for each one that is there now}
    Collection<String> lines() {
        return find().values();
    }

    private Map<Path, String> find() {
        Map<Path, String> found = new TreeMap<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "[!.]*")) {
                for (Path file : files) {
                    if (!DeployInstaller.isJar(file) && Files.exists(file) && !file.endsWith(README)) {
                        found.put(
                                file,
                                "deploy/" + file.getFileName() + " is ignored: "
                                        + (Files.isDirectory(file) ? "it is a folder" : "it is no .jar file")
                                        + ". Only jars are looked for here");
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                LOG.debug("{} cannot be listed", folder, e);
            }
        }
        return found;
    }

    @Override
    public void close() {
        watch.interrupt();
    }
}
