package dev.tenon.platform.bundles.manager;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleChanges;
import dev.tenon.platform.boot.BundleProblems;
import dev.tenon.platform.boot.Started;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.felix.fileinstall.ArtifactInstaller;
import org.apache.felix.fileinstall.ArtifactListener;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.Version;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What happens to jars in `deploy/`: FileInstall watches the folder and tells what came, changed
/// and went.
///
/// A jar that is incomplete, damaged or refused is ignored with a message, and tried again when it
/// has changed, or when a bundle has gone whose ids it wants. Of several jars with one symbolic name
/// the highest version runs. What is no jar is ignored with a message, too. FileInstall calls from
/// one thread; [#lines()] is for any.
@Component(
        service = {ArtifactInstaller.class, ArtifactListener.class, BundleProblems.class},
        property = "service.ranking:Integer=100")
public final class DeployInstaller implements ArtifactInstaller, BundleProblems {
    private static final Logger LOG = LoggerFactory.getLogger(DeployInstaller.class);
    private static final Logger CHANGES = LoggerFactory.getLogger(BundleChanges.LOGGER);
    private static final String JAR = ".jar";

    private final BundleManager manager;
    private final BundleContext context;
    private final Bundle framework;
    private final Path deploy;
    private final OtherFiles others;
    /// What each file holds, if it is a whole bundle.
    private final Map<Path, BundleJar> files = new ConcurrentSkipListMap<>();
    /// What was installed from each file; a damaged or refused jar that was laid over it leaves it.
    private final Map<Path, BundleJar> installed = new ConcurrentSkipListMap<>();
    /// The files whose ids others have.
    private final Set<Path> waiting = new ConcurrentSkipListSet<>();

    private final Map<Path, String> problems = new ConcurrentSkipListMap<>();

    /// Creates the installer.
    ///
    /// @param context tells where the installation is
    /// @param manager does the work
    @Activate
    public DeployInstaller(BundleContext context, @Reference BundleManager manager) {
        this.manager = manager;
        this.context = context;
        this.framework = context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION);
        this.deploy = folder(context);
        this.others = new OtherFiles(deploy);
    }

    /// {@return the folder `deploy/` of the installation}
    ///
    /// @param context tells where the installation is
    public static Path folder(BundleContext context) {
        String home = context.getProperty("tenon.home");
        return Path.of(home == null ? "" : home).toAbsolutePath().resolve("deploy");
    }

    @Deactivate
    void deactivate() {
        others.close();
    }

    /// {@return whether it is a jar, or in `deploy/`, where settings are not looked for}
    @Override
    public boolean canHandle(File artifact) {
        Path file = artifact.toPath();
        return isJar(file) || deploy.equals(file.getParent());
    }

    static boolean isJar(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(JAR) && !name.startsWith(".") && Files.isRegularFile(file);
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
        // A command that changes the folder too is waited for: what it replaces would otherwise come back.
        synchronized (manager) {
            if (isJar(file)) { // the watch of other files reports the others
                takeAlone(file);
            }
        }
    }

    private void takeAlone(Path file) {
        files.remove(file);
        waiting.remove(file);
        Path copy = null;
        try {
            // What is looked at, checked and installed are the same bytes, whatever becomes of the file.
            copy = BundleManager.stage(file);
            BundleJar jar = BundleJar.read(copy);
            BundleJar before = installed.get(file);
            if (before != null && !before.name().equals(jar.name())) {
                installed.remove(file);
                withdraw(file, before);
            }
            Optional<Path> newer = best(jar.name())
                    .filter(other -> version(files.get(other)).compareTo(version(jar)) > 0)
                    .filter(other -> !problems.containsKey(other));
            files.put(file, jar);
            if (newer.isPresent()) {
                ignored(file, newer.get());
                return;
            }
            String done = manager.apply(copy, file.toString(), Set.of());
            installed.put(file, jar);
            problems.remove(file);
            tell(file.getFileName() + ": " + done);
            for (Path other : files.keySet()) {
                if (!other.equals(file) && files.get(other).name().equals(jar.name()) && isJar(other)) {
                    ignored(other, file);
                }
            }
        } catch (RuntimeException e) {
            if (isEnding(file, e)) {
                return;
            }
            if (e instanceof TenonException known && known.code().equals(ErrorCode.DUPLICATE_ID)) {
                waiting.add(file);
            }
            String why = e instanceof TenonException ? e.getMessage() : "unexpected " + e;
            String shown = copy == null ? why : why.replace(copy.toString(), file.toString());
            problem(file, "deploy/" + file.getFileName() + " is ignored: " + shown);
        } finally {
            if (copy != null) {
                BundleManager.delete(copy);
            }
        }
    }

    /// Whether the platform ends, so that whatever fails is due to that and told nobody.
    private boolean isEnding(Path file, RuntimeException failure) {
        boolean ending = framework.getState() != Bundle.ACTIVE && framework.getState() != Bundle.STARTING;
        if (ending) {
            LOG.debug("{} is left to the next start", file, failure);
        }
        return ending;
    }

    @Override
    public void uninstall(File artifact) {
        Path file = artifact.toPath();
        problems.remove(file);
        files.remove(file);
        waiting.remove(file);
        BundleJar jar = installed.remove(file);
        if (jar != null) {
            withdraw(file, jar);
            waiting.forEach(this::take);
        }
    }

    /// Removes a bundle whose file was deleted, or installs the next best file instead.
    private void withdraw(Path file, BundleJar gone) {
        synchronized (manager) {
            withdrawAlone(file, gone);
        }
    }

    private void withdrawAlone(Path file, BundleJar gone) {
        try {
            if (!manager.digestOf(gone.name()).equals(Optional.of(gone.sha256()))) {
                return; // another file's
            }
            Optional<Path> next = best(gone.name());
            String done = next.isPresent() ? manager.apply(next.get()) : manager.remove(gone.name());
            if (next.isPresent()) {
                installed.put(next.get(), files.get(next.get()));
                problems.remove(next.get());
            }
            tell(file.getFileName() + " was deleted: " + done);
        } catch (RuntimeException e) {
            if (!isEnding(file, e)) {
                LOG.warn("{} was deleted, but {} runs on: {}", file.getFileName(), gone.title(), e.getMessage());
            }
        }
    }

    private Optional<Path> best(String name) {
        return files.keySet().stream()
                .filter(file -> files.get(file).name().equals(name))
                .max(Comparator.comparing(file -> version(files.get(file))));
    }

    private static Version version(BundleJar jar) {
        return Version.parseVersion(jar.version());
    }

    /// Of two jars with one bundle the other one runs.
    private void ignored(Path file, Path other) {
        problem(
                file,
                file.getFileName() + " is ignored: " + other.getFileName() + " holds "
                        + files.get(other).title() + ", which is "
                        + (version(files.get(other)).equals(version(files.get(file))) ? "not older" : "newer")
                        + " than its " + files.get(file).version());
    }

    /// Logs what was done, so that people see what changes while a command runs.
    private void tell(String done) {
        boolean news = !done.endsWith(BundleManager.RUNS_ALREADY) && context.getServiceReference(Started.class) != null;
        (news ? CHANGES : LOG).info(done);
    }

    private void problem(Path file, String text) {
        problems.put(file, text);
        LOG.warn(text);
    }

    /// {@return a line for each ignored jar, file and folder, and for each bundle whose ids others have}
    @Override
    public List<String> lines() {
        List<String> lines = new ArrayList<>(problems.values());
        lines.addAll(others.lines());
        lines.addAll(manager.takenIds());
        return lines;
    }
}
