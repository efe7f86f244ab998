package dev.tenon.platform.bundles.manager;

import dev.tenon.api.bundle.BundleChange;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.cli.RunningCommand;
import dev.tenon.platform.cli.WorkFolder;
import dev.tenon.platform.core.control.EngineControl;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.Version;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.component.annotations.ReferencePolicyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Installs, replaces and removes bundles of a running platform.
///
/// A new version is installed and started next to the old one, with its services hidden, and
/// tested; only then does a running command go over to it, then the models, and only then does the
/// old one go. Whatever fails before that takes the new version away and leaves the old one as it
/// was. Safe for any thread; changes are made one at a time, under this object's monitor, which
/// callers may hold over several.
@Component(service = BundleManager.class, configurationPolicy = ConfigurationPolicy.IGNORE)
public final class BundleManager {
    private static final Logger LOG = LoggerFactory.getLogger(BundleManager.class);
    /// Selects services of the system bundle, which are the launcher's: no other bundle may speak
    /// for it.
    public static final String LAUNCHER = "(service.bundleid=0)";

    /// Ends what [#apply] returns where nothing was to do.
    static final String RUNS_ALREADY = " runs already";

    private static final String LOCATION = "tenon:";
    private static final long REFRESH_SECONDS = 30;

    private final BundleContext context;
    private final EngineControl engine;
    private final BundleTrust trust;
    /// Digests of what this manager has installed, by bundle number.
    private final Map<Long, String> digests = new ConcurrentHashMap<>();
    /// Locations of the distribution's bundles that were replaced, by symbolic name.
    private final Map<String, String> replaced = new ConcurrentHashMap<>();
    private int changes;

    /// Null where no command can be replaced.
    @Reference(
            cardinality = ReferenceCardinality.OPTIONAL,
            policy = ReferencePolicy.DYNAMIC,
            policyOption = ReferencePolicyOption.GREEDY)
    volatile RunningCommand running;

    /// Creates the manager.
    ///
    /// @param context of this bundle
    /// @param engine moves models from bundle to bundle
    /// @param trust the launcher's word on which bundles may run; null: all may
    @Activate
    public BundleManager(
            BundleContext context,
            @Reference EngineControl engine,
            @Reference(cardinality = ReferenceCardinality.OPTIONAL, target = LAUNCHER) BundleTrust trust) {
        this.context = context;
        this.engine = engine;
        this.trust = trust;
    }

    /// Installs a bundle, or has it take the place of the running one of its name, of any version.
    ///
    /// @param file the jar; copied
    /// @return what was done, for people
    /// @throws TenonException (`BUNDLE-001`, `BUNDLE-002`, `BUNDLE-003`, `BUNDLE-005`, `BUNDLE-007`,
    ///     `CFG-002`) if it was not; what ran before runs on
    public String apply(Path file) {
        Path copy = stage(file);
        try {
            return apply(copy, file.toString(), Set.of(Accept.DOWNGRADE));
        } finally {
            delete(copy);
        }
    }

    /// The same for a copy that [#stage] made.
    ///
    /// @param copy the jar; stays the caller's
    /// @param shown what messages call it
    /// @param accepted what is meant
    /// @return what was done, for people
    public synchronized String apply(Path copy, String shown, Set<Accept> accepted) {
        BundleJar jar = null;
        try {
            jar = BundleJar.read(copy, shown);
            return apply(jar, accepted);
        } catch (TenonException e) {
            if (jar != null) {
                tell(BundleChange.Kind.REFUSED, jar, running(jar.name()).orElse(null), e.getMessage());
            }
            throw e;
        }
    }

    private String apply(BundleJar jar, Set<Accept> accepted) {
        Optional<Bundle> old = running(jar.name());
        if (old.isPresent() && jar.sha256().equals(digest(old.get()))) {
            return jar.title() + RUNS_ALREADY;
        }
        if (jar.fragment() != null) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FIXED,
                    jar.title() + " is a fragment of " + jar.fragment()
                            + (jar.fragment().equals(Constants.SYSTEM_BUNDLE_SYMBOLICNAME)
                                    ? ". Nothing extends the framework while it runs"
                                    : ". Fragments are attached at start only: put it into bundles/ and restart"));
        }
        old.ifPresent(this::requireFree);
        if (!accepted.contains(Accept.DOWNGRADE)) {
            old.ifPresent(running -> requireNotOlder(jar, running));
        }
        String location = LOCATION + jar.name() + "/" + jar.version() + "/" + ++changes;
        return enter(jar, location, old.orElse(null), accepted.contains(Accept.CHANGED_RESULTS));
    }

    private String tell(BundleChange.Kind kind, BundleJar jar, Bundle old, String text) {
        String before = old == null ? "" : old.getVersion().toString();
        engine.tell(new BundleChange(kind, jar.name(), jar.version(), before, text));
        return text;
    }

    /// Takes a bundle away. Where it had replaced a bundle of the distribution, that one takes its
    /// place again; else models that use it move to what is there, or their sessions end with the
    /// reason.
    ///
    /// @param name symbolic name
    /// @return what was done, for people
    /// @throws TenonException (`BUNDLE-003`) if there is no such bundle or it belongs to the
    ///     distribution
    public synchronized String remove(String name) {
        Bundle old = running(name)
                .orElseThrow(() -> new TenonException(
                        ErrorCode.BUNDLE_FIXED, "There is no bundle " + name + ". 'tenon bundles' lists all"));
        if (isOfDistribution(old.getLocation())) {
            throw new TenonException(
                    ErrorCode.BUNDLE_FIXED,
                    title(old) + " belongs to the distribution. To remove it, delete its jar in bundles/ and restart");
        }
        String before = replaced.get(name);
        if (before != null) {
            Path copy = stage(jarOf(before));
            try {
                return enter(BundleJar.read(copy), LOCATION + before, old, true);
            } finally {
                delete(copy);
            }
        }
        List<Bundle> users = BundleUsers.of(old);
        if (!users.isEmpty()) {
            throw fixed(old, users);
        }
        leave(List.of(old));
        String done = title(old) + " was removed";
        engine.tell(new BundleChange(
                BundleChange.Kind.REMOVED, name, old.getVersion().toString(), "", done));
        return done;
    }

    /// {@return the digest of a running bundle that this manager has installed, or empty}
    ///
    /// @param name symbolic name
    public Optional<String> digestOf(String name) {
        return running(name).map(this::digest);
    }

    /// {@return the running bundle of a name, of several versions the highest}
    ///
    /// @param name symbolic name
    public Optional<Bundle> running(String name) {
        return Arrays.stream(context.getBundles())
                .filter(b -> name.equals(b.getSymbolicName()))
                .max(Comparator.comparing((Bundle b) -> b.getState() == Bundle.ACTIVE)
                        .thenComparing(Bundle::getVersion));
    }

    /// {@return a line for each bundle whose services are not all used, since others have their ids}
    public List<String> takenIds() {
        List<String> lines = new ArrayList<>();
        for (Bundle bundle : context.getBundles()) {
            List<String> taken = engine.refusedIds(Set.of(bundle.getBundleId()), Set.of());
            for (String what : TakenIds.shortened(taken)) {
                lines.add(title(bundle) + " is not used in full: " + what);
            }
        }
        return lines;
    }

    private String digest(Bundle bundle) {
        return digests.computeIfAbsent(bundle.getBundleId(), id -> {
            String location = bundle.getLocation();
            return isOfDistribution(location) ? BundleJar.digest(jarOf(location)) : "";
        });
    }

    /// {@return whether a bundle was installed from its jar by the launcher, or restored after that}
    ///
    /// @param location the bundle's location
    public static boolean isOfDistribution(String location) {
        return location.replaceFirst("^" + LOCATION, "").matches("(reference:)?file:.*");
    }

    private static Path jarOf(String location) {
        return Path.of(java.net.URI.create(location.replaceFirst("^(tenon:)?(reference:)?", "")));
    }

    /// Has a bundle enter, and with it a copy of each bundle that uses the old one's classes: those
    /// are bound to the old classes for as long as they live.
    private String enter(BundleJar jar, String location, Bundle old, boolean changedResults) {
        List<Part> parts = new ArrayList<>(List.of(new Part(jar, location, old)));
        List<Path> copies = new ArrayList<>();
        try {
            for (Bundle user : old == null ? List.<Bundle>of() : BundleUsers.of(old)) {
                Path copy = stage(jarOf(user));
                copies.add(copy);
                parts.add(new Part(BundleJar.read(copy), again(user), user));
            }
            for (Part part : parts) {
                admit(part);
            }
            return change(parts, changedResults);
        } finally {
            copies.forEach(BundleManager::delete);
        }
    }

    private void admit(Part part) {
        if (trust == null) {
            return;
        }
        BundleTrust.Verdict verdict = trust.admit(part.location(), part.jar().file());
        if (!verdict.allows()) {
            throw new TenonException(
                    ErrorCode.BUNDLE_TRUST,
                    part.jar().title() + " is not trusted (bundles.trust=" + verdict.policy() + "): "
                            + verdict.refusal()
                            + ". None of its code ran. 'tenon bundles trust JAR' adds it to the list");
        }
    }

    /// Has the new bundles take the places of the old ones, or none of them.
    private String change(List<Part> parts, boolean changedResults) {
        Part asked = parts.getFirst();
        List<Bundle> entered = new ArrayList<>();
        List<String> differences;
        try (SideBySide apart = new SideBySide(context)) {
            differences = switchOver(parts, entered, apart, changedResults);
        } catch (Phase.Failure e) {
            leave(entered);
            throw e.refusal(asked);
        }
        BundleJar jar = asked.jar();
        Bundle old = asked.old();
        if (old == null) {
            return tell(BundleChange.Kind.INSTALLED, jar, null, jar.title() + " was installed");
        }
        if (isOfDistribution(asked.location())) {
            replaced.remove(jar.name());
        } else if (isOfDistribution(old.getLocation())) {
            replaced.put(jar.name(), old.getLocation().replaceFirst("^" + LOCATION, ""));
        }
        String users = parts.stream().skip(1).map(part -> part.jar().name()).collect(Collectors.joining(", "));
        boolean older = Version.parseVersion(jar.version()).compareTo(old.getVersion()) < 0;
        String done = title(old) + " was replaced by " + jar.title() + (older ? ", an older version" : "")
                + (users.isEmpty() ? "" : ", and restarted its users: " + users)
                + differences.stream().map(line -> "; " + line).collect(Collectors.joining());
        leave(parts.stream().map(Part::old).toList());
        return tell(BundleChange.Kind.UPDATED, jar, old, done);
    }

    /// Starts the new bundles next to the old ones, tests them, and switches over in one step.
    ///
    /// @param entered receives those that were installed, also if this fails
    /// @return what is computed otherwise than before
    private List<String> switchOver(List<Part> parts, List<Bundle> entered, SideBySide apart, boolean changedResults)
            throws Phase.Failure {
        Part asked = parts.getFirst();
        Map<Long, Long> places = new LinkedHashMap<>();
        for (Part part : parts) {
            Bundle next = Phase.INSTALL.run(part, () -> install(part, entered, apart));
            places.put(next.getBundleId(), part.old() == null ? -1 : part.old().getBundleId());
        }
        FrameworkWiring wiring =
                context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION).adapt(FrameworkWiring.class);
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            Bundle next = entered.get(i);
            Phase.PACKAGES.check(part, () -> ApiPackages.missing(next, context));
            boolean resolved = Phase.PACKAGES.run(part, () -> wiring.resolveBundles(List.of(next)));
            if (resolved) { // else its start says why
                Phase.CLASSES.check(part, () -> LinkCheck.faults(next));
            }
            Phase.START.run(part, () -> {
                next.start();
                OfferedServices.await(engine, next, part.old());
                return next;
            });
        }
        Phase.IDS.check(asked, () -> TakenIds.find(places, engine, context));
        // Not before all have started: one may need what a later one offers to it alone.
        for (int i = 0; i < parts.size(); i++) {
            long next = entered.get(i).getBundleId();
            Phase.CHECK.check(parts.get(i), () -> engine.check(next, places.get(next)));
            if (!changedResults) {
                Phase.RESULTS.check(parts.get(i), () -> engine.changedFormats(next, places.get(next)));
            }
        }
        if (asked.old() == null) {
            engine.release(entered.getFirst().getBundleId());
            return List.of();
        }
        RunningCommand command = running;
        for (int i = 0; i < parts.size() && command != null; i++) {
            long next = entered.get(i).getBundleId();
            Phase.COMMAND.run(parts.get(i), () -> {
                command.replace(places.get(next), next);
                return next;
            });
        }
        String reason = title(asked.old()) + " was replaced by " + title(entered.getFirst());
        return Phase.MODELS.run(
                asked,
                () -> engine.replace(Set.copyOf(places.values()), Set.copyOf(places.keySet()), reason, changedResults));
    }

    /// Installs a bundle with its services held back, and keeps its jar for later copies.
    private Bundle install(Part part, List<Bundle> entered, SideBySide apart) throws IOException, BundleException {
        try (InputStream in = Files.newInputStream(part.jar().file())) {
            Bundle next = context.installBundle(part.location(), in);
            entered.add(next);
            engine.hold(next.getBundleId());
            apart.add(next, part.old());
            digests.put(next.getBundleId(), part.jar().sha256());
            Path kept = kept(next);
            if (kept != null && !isOfDistribution(part.location())) {
                Files.createDirectories(kept.getParent());
                Files.copy(part.jar().file(), kept, StandardCopyOption.REPLACE_EXISTING);
            }
            return next;
        }
    }

    /// Where the jar of a bundle is kept that was installed from bytes; null where the framework
    /// keeps no files.
    private Path kept(Bundle bundle) {
        File file = context.getDataFile("jars/" + bundle.getBundleId() + ".jar");
        return file == null ? null : file.toPath();
    }

    private Path jarOf(Bundle bundle) {
        return isOfDistribution(bundle.getLocation()) ? jarOf(bundle.getLocation()) : kept(bundle);
    }

    /// A free location for another copy of a bundle, from which can be told where it came from.
    private String again(Bundle bundle) {
        String location = bundle.getLocation();
        if (!isOfDistribution(location)) {
            return LOCATION + bundle.getSymbolicName() + "/" + bundle.getVersion() + "/" + ++changes;
        }
        return location.startsWith(LOCATION) ? location.substring(LOCATION.length()) : LOCATION + location;
    }

    /// Refuses to change a bundle without which nobody could change bundles.
    private void requireFree(Bundle bundle) {
        List<Bundle> users = BundleUsers.of(bundle);
        if (bundle.equals(context.getBundle())
                || users.contains(context.getBundle())
                || users.stream().anyMatch(BundleUsers::isFragment)) {
            throw fixed(bundle, users);
        }
    }

    /// Refuses a lower version than one that was installed; what came with the distribution may be replaced by any.
    private static void requireNotOlder(BundleJar jar, Bundle running) {
        if (!isOfDistribution(running.getLocation())
                && Version.parseVersion(jar.version()).compareTo(running.getVersion()) < 0) {
            throw new TenonException(
                    ErrorCode.BUNDLE_REJECTED,
                    jar.title() + " is older than " + running.getVersion()
                            + ", which stays in use. 'tenon bundles update " + Accept.DOWNGRADE.option()
                            + "' takes it, and so does deploy/ when the file of the other was deleted first");
        }
    }

    private static TenonException fixed(Bundle bundle, List<Bundle> users) {
        String names = users.stream().map(Bundle::getSymbolicName).sorted().collect(Collectors.joining(", "));
        return new TenonException(
                ErrorCode.BUNDLE_FIXED,
                title(bundle) + " cannot be changed while the platform runs: "
                        + (users.isEmpty() ? "it manages bundles" : names + " use it")
                        + ". Stop the platform and replace its jar in bundles/");
    }

    /// Stops bundles and forgets their classes; the last one first, since it may use the others.
    private void leave(List<Bundle> bundles) {
        for (Bundle bundle : bundles.reversed()) {
            try {
                if (bundle.getState() != Bundle.UNINSTALLED) {
                    bundle.uninstall();
                }
            } catch (BundleException e) {
                // Uninstalled all the same; its activator failed to stop.
                LOG.warn("{} did not stop cleanly: {}", title(bundle), Failures.innermost(e));
            }
            engine.release(bundle.getBundleId());
            digests.remove(bundle.getBundleId());
            Path kept = kept(bundle);
            if (kept != null) {
                delete(kept);
            }
        }
        CountDownLatch refreshed = new CountDownLatch(1);
        context.getBundle(Constants.SYSTEM_BUNDLE_LOCATION)
                .adapt(FrameworkWiring.class)
                .refreshBundles(bundles, event -> refreshed.countDown());
        try {
            if (!refreshed.await(REFRESH_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("The classes of {} are not freed after {} s", bundles, REFRESH_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Copies a jar, so that nobody changes it between its check and its installation.
    ///
    /// @param file the jar
    /// @return the copy, which its owner alone can change; the caller deletes it
    /// @throws TenonException (`BUNDLE-001`) if it cannot be read
    public static Path stage(Path file) {
        BundleJar.requireFile(file);
        try {
            Path copy = Files.createTempFile(WorkFolder.path(), "tenon-bundle-", ".jar");
            Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
            return copy;
        } catch (IOException e) {
            throw new TenonException(ErrorCode.BUNDLE_FILE, file + " cannot be read: " + e.getMessage(), e);
        }
    }

    public static void delete(Path copy) {
        try {
            Files.deleteIfExists(copy);
        } catch (IOException e) {
            LOG.debug("{} is left behind", copy, e);
        }
    }

    static String title(Bundle bundle) {
        return bundle.getSymbolicName() + " " + bundle.getVersion();
    }
}
