package dev.tenon.platform.bundles.manager;

import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleProblems;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.felix.fileinstall.ArtifactInstaller;
import org.apache.felix.fileinstall.ArtifactListener;
import org.osgi.framework.Version;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What happens to jars in `deploy/`: FileInstall watches the folder and tells what came, changed
/// and went.
///
/// A jar that is incomplete, damaged or refused is ignored with a message, and tried again when it
/// has changed. Of several jars with one symbolic name the highest version runs. FileInstall calls
/// from one thread; [#lines()] is for any.
@Component(
        service = {ArtifactInstaller.class, ArtifactListener.class, BundleProblems.class},
        property = "service.ranking:Integer=100")
public final class DeployInstaller implements ArtifactInstaller, BundleProblems {
    private static final Logger LOG = LoggerFactory.getLogger(DeployInstaller.class);

    private final BundleManager manager;
    private final Map<Path, BundleJar> files = new ConcurrentSkipListMap<>();
    private final Map<Path, String> problems = new ConcurrentSkipListMap<>();

    /// Creates the installer.
    ///
    /// @param manager does the work
    @Activate
    public DeployInstaller(@Reference BundleManager manager) {
        this.manager = manager;
    }

    @Override
    public boolean canHandle(File artifact) {
        return artifact.getName().endsWith(".jar") && !artifact.getName().startsWith(".");
    }

    @Override
    public void install(File artifact) {
        take(artifact.toPath());
    }

    @Override
    public void update(File artifact) {
        take(artifact.toPath());
    }

    /// Never throws: FileInstall would forget the file, and not tell of its deletion.
    private void take(Path file) {
        BundleJar before = files.remove(file);
        try {
            BundleJar jar = BundleJar.read(file);
            if (before != null && !before.name().equals(jar.name())) {
                withdraw(before);
            }
            Optional<BundleJar> newer = best(jar.name())
                    .filter(other -> version(other).compareTo(version(jar)) > 0)
                    .filter(other -> !problems.containsKey(other.file()));
            files.put(file, jar);
            if (newer.isPresent()) {
                problem(
                        file,
                        file.getFileName() + " is ignored: "
                                + newer.get().file().getFileName() + " holds "
                                + newer.get().title() + ", which is newer than its " + jar.version());
                return;
            }
            String done = manager.apply(file);
            problems.remove(file);
            LOG.info("{}: {}", file.getFileName(), done);
        } catch (TenonException e) {
            problem(file, "deploy/" + file.getFileName() + " is ignored: " + e.getMessage());
        }
    }

    @Override
    public void uninstall(File artifact) {
        Path file = artifact.toPath();
        problems.remove(file);
        BundleJar jar = files.remove(file);
        if (jar != null) {
            withdraw(jar);
        }
    }

    /// Removes a bundle whose file was deleted, or installs the next best file instead.
    private void withdraw(BundleJar gone) {
        synchronized (manager) {
            withdrawAlone(gone);
        }
    }

    private void withdrawAlone(BundleJar gone) {
        if (!manager.digestOf(gone.name()).equals(Optional.of(gone.sha256()))) {
            return; // another file's, or never taken
        }
        Optional<BundleJar> next = best(gone.name());
        try {
            String done = next.isPresent() ? manager.apply(next.get().file()) : manager.remove(gone.name());
            next.ifPresent(jar -> problems.remove(jar.file()));
            LOG.info("{} was deleted: {}", gone.file().getFileName(), done);
        } catch (TenonException e) {
            LOG.warn("{} was deleted, but {} runs on: {}", gone.file().getFileName(), gone.title(), e.getMessage());
        }
    }

    private Optional<BundleJar> best(String name) {
        return files.values().stream()
                .filter(jar -> jar.name().equals(name))
                .max(Comparator.comparing(DeployInstaller::version));
    }

    private static Version version(BundleJar jar) {
        try {
            return Version.parseVersion(jar.version());
        } catch (IllegalArgumentException e) {
            return Version.emptyVersion; // the framework refuses it with the reason
        }
    }

    private void problem(Path file, String text) {
        problems.put(file, text);
        LOG.warn(text);
    }

    /// {@return a line for each ignored jar}
    @Override
    public List<String> lines() {
        return new ArrayList<>(problems.values());
    }
}
