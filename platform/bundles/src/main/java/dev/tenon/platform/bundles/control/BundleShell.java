package dev.tenon.platform.bundles.control;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleChanges;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.bundles.listing.BundleTable;
import dev.tenon.platform.bundles.listing.OsgiBundles;
import dev.tenon.platform.bundles.listing.WhyTable;
import dev.tenon.platform.bundles.manager.Accept;
import dev.tenon.platform.bundles.manager.BundleJar;
import dev.tenon.platform.bundles.manager.BundleManager;
import dev.tenon.platform.bundles.manager.DeployInstaller;
import dev.tenon.platform.core.control.BundleControl;
import dev.tenon.platform.core.control.EngineControl;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Executes the command `bundles` in this platform, or for another process through the control
/// channel. A bundle is tested first and then kept in `deploy/`. Safe for any thread.
@Component(
        service = {BundleShell.class, BundleControl.class},
        configurationPolicy = ConfigurationPolicy.IGNORE)
public final class BundleShell implements BundleControl {
    private static final Logger CHANGES = LoggerFactory.getLogger(BundleChanges.LOGGER);

    private final BundleManager manager;
    private final EngineControl engine;
    private final BundleTrust trust;
    private final Path deploy;

    /// Creates the shell.
    ///
    /// @param context tells where the installation is
    /// @param manager does the work
    /// @param engine explains its choices
    /// @param trust the launcher's knowledge of signers and digests, or null
    @Activate
    public BundleShell(
            BundleContext context,
            @Reference BundleManager manager,
            @Reference EngineControl engine,
            @Reference(cardinality = ReferenceCardinality.OPTIONAL, target = BundleManager.LAUNCHER)
                    BundleTrust trust) {
        this.manager = manager;
        this.engine = engine;
        this.trust = trust;
        this.deploy = DeployInstaller.folder(context);
    }

    /// Runs one command for another process or a client of a server; who looks at this process is told of a change.
    @Override
    public String run(String command, String argument) {
        String done = execute(command, argument);
        if (!command.equals("list") && !command.equals("why")) {
            CHANGES.info(done);
        }
        return done;
    }

    /// Runs one command.
    ///
    /// @param command `list`, `why`, `install`, `update` or `remove`; `install` and `update` may be followed by
    ///     options of [Accept]
    /// @param argument the path of a model or jar, or the bundle's name
    /// @return text for people; JSON for `list` and `why`
    /// @throws TenonException if it fails; nothing has changed then
    public String execute(String command, String argument) {
        List<String> words = List.of(command.split(" "));
        return switch (words.getFirst()) {
            case "list" -> BundleTable.json(OsgiBundles.all(trust));
            case "why" -> WhyTable.json(engine.explain(LoadRequest.of(Path.of(argument))), OsgiBundles.all());
            case "install" -> install(Path.of(argument), accepted(words));
            case "update" -> update(Path.of(argument), accepted(words));
            case "remove" -> remove(argument);
            default -> throw unknown(command);
        };
    }

    private static Set<Accept> accepted(List<String> words) {
        Set<Accept> accepted = Accept.of(words);
        if (accepted.size() < words.size() - 1) {
            throw unknown(String.join(" ", words));
        }
        return accepted;
    }

    private static TenonException unknown(String command) {
        return new TenonException(ErrorCode.CONTROL, "There is no command '" + command + "'");
    }

    /// {@return the jars of the installation: in `bundles/` and its folders, and in `deploy/`}
    public List<Path> jars() {
        List<Path> found = new ArrayList<>();
        Path bundles = deploy.resolveSibling("bundles");
        try {
            for (Path folder : List.of(bundles.resolve("system"), bundles, bundles.resolve("extras"), deploy)) {
                if (Files.isDirectory(folder)) {
                    try (DirectoryStream<Path> jars = Files.newDirectoryStream(folder, "[!.]*.jar")) {
                        jars.forEach(found::add);
                    }
                }
            }
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, "The installed jars cannot be listed: " + e.getMessage(), e);
        }
        return found;
    }

    private String update(Path jar, Set<Accept> accepted) {
        BundleJar read = BundleJar.read(jar);
        if (manager.running(read.name()).isEmpty()) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FIXED,
                    "There is no bundle " + read.name() + " to update. 'tenon bundles install' installs it");
        }
        return install(jar, accepted);
    }

    private String install(Path jar, Set<Accept> accepted) {
        // What is kept for the next start are the bytes that were checked, whatever becomes of the
        // file.
        Path copy = BundleManager.stage(jar);
        try {
            // The folder's watcher must wait: otherwise it would go back to the version in the folder.
            synchronized (manager) {
                String done = manager.apply(copy, jar.toString(), accepted);
                keep(copy, done);
                return done;
            }
        } finally {
            BundleManager.delete(copy);
        }
    }

    private void keep(Path copy, String done) {
        BundleJar read = BundleJar.read(copy);
        try {
            Files.createDirectories(deploy);
            Path target = deploy.resolve(read.name() + "-" + read.version() + ".jar");
            Path draft = Drafts.of(target);
            Files.copy(copy, draft, StandardCopyOption.REPLACE_EXISTING);
            Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
            for (Path other : kept(read.name())) {
                if (!other.equals(target)) {
                    Files.delete(other);
                }
            }
        } catch (IOException e) {
            throw new TenonException(
                    ErrorCode.IO, done + ", but is not kept for the next start: " + deploy + ": " + e.getMessage(), e);
        }
    }

    /// Removes drafts of `deploy/` that killed processes left.
    void sweep() {
        Drafts.sweep(deploy);
    }

    private String remove(String name) {
        // The folder's watcher must wait: otherwise it would remove the bundle first, because its
        // jar was deleted.
        synchronized (manager) {
            try {
                for (Path jar : kept(name)) {
                    Files.delete(jar);
                }
            } catch (IOException e) {
                throw new TenonException(
                        ErrorCode.IO, "A jar in " + deploy + " cannot be deleted: " + e.getMessage(), e);
            }
            return manager.remove(name);
        }
    }

    /// {@return the jars in `deploy/` that hold a bundle of a name}
    ///
    /// @param name symbolic name
    /// @throws IOException if the folder cannot be read
    public List<Path> kept(String name) throws IOException {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(deploy)) {
            try (DirectoryStream<Path> jars = Files.newDirectoryStream(deploy, "[!.]*.jar")) {
                for (Path jar : jars) {
                    if (holds(jar, name)) {
                        found.add(jar);
                    }
                }
            }
        }
        return found;
    }

    private static boolean holds(Path jar, String name) {
        try {
            return BundleJar.read(jar).name().equals(name);
        } catch (TenonException e) {
            return false; // left aside as it is
        }
    }
}
