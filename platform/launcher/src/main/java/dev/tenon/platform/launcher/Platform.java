package dev.tenon.platform.launcher;

import dev.tenon.platform.boot.Answers;
import dev.tenon.platform.boot.BundleProblems;
import dev.tenon.platform.boot.BundleTrust;
import dev.tenon.platform.boot.EntryPoint;
import dev.tenon.platform.boot.Started;
import dev.tenon.platform.launcher.home.CacheFolder;
import dev.tenon.platform.launcher.home.CfgFile;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.home.PlatformException;
import dev.tenon.platform.launcher.trust.Trust;
import dev.tenon.platform.launcher.trust.TrustPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkEvent;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.hooks.resolver.ResolverHookFactory;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A running framework with the bundles of one distribution.
///
/// Start order: Configuration Admin and then the values of `etc/*.cfg`, so that every component
/// finds its settings when it is first activated; the other bundles of `bundles/system`; `bundles`
/// and `bundles/extras`; FileInstall, at once if `deploy` holds a jar, otherwise a moment later, so
/// that the first answer does not wait. A bundle that cannot be installed, resolved or started is
/// reported and left out.
final class Platform implements AutoCloseable {
    private static final String CONFIG_ADMIN = "org.apache.felix.configadmin";
    private static final String FILE_INSTALL = "org.apache.felix.fileinstall";
    private static final String FELIX_FACTORY = "org.apache.felix.framework.FrameworkFactory";
    /// A bundle may wait for the running step of a large model, or for processors that others keep busy.
    private static final long STOP_MILLIS = 20_000;
    private static final long FOLDER_MILLIS = 5000;
    /// How long a thread of the component runtime waits for a component that another one activates, before it goes on
    /// without the service: ends a hang. The runtime's own 5 s are over before a start is on a starved machine.
    private static final String COMPONENT_MILLIS = "600000";
    private static final long MILLI = 1_000_000;

    private final Home home;
    private final CacheFolder cache;
    private final Framework framework;
    private final NotedProblems problems;
    private final Trust trust;
    private Bundle fileInstall;
    /// Held while FileInstall is started in parallel to the main thread.
    private final ReentrantLock watching = new ReentrantLock();
    private volatile boolean closed;

    private Platform(Home home) {
        this.home = home;
        Iterator<FrameworkFactory> factories = ServiceLoader.load(
                        FrameworkFactory.class, Platform.class.getClassLoader())
                .iterator();
        if (!factories.hasNext()) {
            throw new PlatformException("No OSGi framework is on the class path. Unpack the distribution again:"
                    + " lib/ must hold the framework's jar.");
        }
        FrameworkFactory factory = factories.next();
        trust = new Trust(TrustPolicy.read(home, System::getenv));
        cache = CacheFolder.create();
        framework = factory.newFramework(
                properties(home, cache.path(), factory.getClass().getName()));
        try {
            framework.init();
        } catch (BundleException e) {
            cache.close();
            throw new PlatformException("The framework did not start: " + NotedProblems.reason(e) + ".");
        }
        problems = new NotedProblems(framework.getBundleContext());
    }

    /// Boots the framework and starts the bundles.
    ///
    /// @param command what the process is to do: its first argument, or an empty text
    /// @param answers keeps the answer to the call, if it can be
    /// @throws PlatformException when the framework itself does not start
    static Platform boot(Home home, String command, Optional<? extends Answers> answers) {
        Platform platform = new Platform(home);
        try {
            answers.ifPresent(each -> platform.context().registerService(Answers.class, each, null));
            platform.start(command);
        } catch (BundleException e) {
            platform.close();
            throw new PlatformException("The framework did not start: " + NotedProblems.reason(e) + ".");
        } catch (RuntimeException e) {
            platform.close();
            throw e;
        }
        return platform;
    }

    private void start(String command) throws BundleException {
        long begin = System.nanoTime();
        BundleContext context = framework.getBundleContext();
        context.registerService(BundleProblems.class, problems, null);
        guard(context);
        FelixUsages.forgetOf(framework);
        framework.start();
        JarInstaller jars = new JarInstaller(home, context, trust, cache, problems);
        List<Bundle> system = jars.install(Home.files(home.system(), ".jar"));
        List<Bundle> bundles = jars.install(Home.files(home.bundles(), ".jar"));
        bundles.addAll(jars.install(Home.files(home.extras(), ".jar")));
        system.removeAll(jars.outdated());
        bundles.removeAll(jars.outdated());
        // All at once: cheaper than one by one, and FileInstall, which starts later, is seen to be
        // in order.
        // What does not resolve is reported when it is started.
        framework.adapt(FrameworkWiring.class).resolveBundles(null);
        ClassesAhead.begin(command, system, bundles);
        long installed = System.nanoTime();
        for (Bundle bundle : system) {
            if (CONFIG_ADMIN.equals(bundle.getSymbolicName())) {
                startBundle(bundle);
                configure();
            } else if (FILE_INSTALL.equals(bundle.getSymbolicName())) {
                fileInstall = bundle;
            }
        }
        for (Bundle bundle : system) {
            Main.requireRunning();
            if (bundle != fileInstall && !CONFIG_ADMIN.equals(bundle.getSymbolicName())) {
                startBundle(bundle);
            }
        }
        long systemStarted = System.nanoTime();
        for (Bundle bundle : bundles) {
            Main.requireRunning();
            startBundle(bundle);
        }
        if (log().isDebugEnabled()) {
            log().debug(
                            "Milliseconds: install and resolve {}, start bundles/system {}, start bundles {}",
                            (installed - begin) / MILLI,
                            (systemStarted - installed) / MILLI,
                            (System.nanoTime() - systemStarted) / MILLI);
        }
        watch();
    }

    /// Registers the trust hook, unless every bundle may run.
    private void guard(BundleContext context) {
        context.registerService(BundleTrust.class, trust, null);
        context.addBundleListener(trust);
        if (trust.strict()) {
            context.registerService(ResolverHookFactory.class, trust, null);
        }
    }

    private void startBundle(Bundle bundle) {
        if (NotedProblems.isFragment(bundle)) {
            return;
        }
        try {
            bundle.start(Bundle.START_ACTIVATION_POLICY);
        } catch (BundleException | RuntimeException e) {
            log().warn(problems.notStarted(bundle, e));
            log().debug("Stack trace", e);
        }
    }

    private void configure() {
        List<Path> files = Home.files(home.etc(), ".cfg");
        if (files.isEmpty()) {
            return;
        }
        BundleContext context = framework.getBundleContext();
        ServiceReference<ConfigurationAdmin> reference = context.getServiceReference(ConfigurationAdmin.class);
        if (reference == null) {
            log().warn("etc/*.cfg is not applied: Configuration Admin does not run");
            return;
        }
        ConfigurationAdmin admin = context.getService(reference);
        for (Path file : files) {
            try {
                CfgFile cfg = CfgFile.read(file, context::getProperty);
                Configuration configuration = cfg.name() == null
                        ? admin.getConfiguration(cfg.pid(), "?")
                        : admin.getFactoryConfiguration(cfg.pid(), cfg.name(), "?");
                Hashtable<String, Object> values = new Hashtable<>(cfg.values());
                values.put(CfgFile.KEY, cfg.key());
                configuration.update(values);
            } catch (IOException | RuntimeException e) {
                log().warn("The settings in {} are not applied: {}", file, NotedProblems.reason(e));
            }
        }
        context.ungetService(reference);
    }

    private void watch() {
        if (fileInstall == null) {
            return;
        }
        if (!Home.files(home.deploy(), ".jar").isEmpty()) {
            startBundle(fileInstall);
            if (!deployReports()) {
                Home.files(home.deploy(), ".jar").forEach(this::report);
            }
        }
        long delay = Long.getLong("tenon.watch.delay", 1000);
        Thread.ofPlatform().daemon().name("tenon-watch").start(() -> {
            try {
                Thread.sleep(delay);
                if (watchFolders()) {
                    CacheFolder.sweep();
                    StartCache.refresh();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IllegalStateException e) {
                log().debug("The framework stopped before the folders were watched", e);
            }
        });
    }

    /// Starts FileInstall unless the platform is closed. [#close] waits meanwhile: FileInstall does
    /// not expect the framework to stop while it starts.
    ///
    /// @return whether it was started
    private boolean watchFolders() {
        watching.lock();
        try {
            if (closed || framework.getState() != Bundle.ACTIVE) {
                return false;
            }
            startBundle(fileInstall);
            announce();
            return true;
        } finally {
            watching.unlock();
        }
    }

    /// Tells bundles that the platform has started and its folders are watched.
    private void announce() {
        framework.getBundleContext().registerService(Started.class, home::root, null);
    }

    /// {@return whether a bundle has replaced FileInstall's handling of jars and reports failures
    /// itself}
    private boolean deployReports() {
        ServiceReference<?>[] found = references(BundleProblems.class);
        return Arrays.stream(found).anyMatch(each -> each.getBundle() != framework);
    }

    /// {@return the services of a type, in no order}
    private ServiceReference<?>[] references(Class<?> type) {
        try {
            ServiceReference<?>[] found = framework.getBundleContext().getAllServiceReferences(type.getName(), null);
            return found == null ? new ServiceReference<?>[0] : found;
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Reports why a jar of `deploy` does not run; FileInstall reports that only in its own log.
    private void report(Path jar) {
        Bundle bundle =
                framework.getBundleContext().getBundle(jar.toFile().toURI().toString());
        if (bundle == null) {
            log().warn(problems.notInstalled(
                    home.root().relativize(jar).toString(), new BundleException("it is not a valid OSGi bundle")));
        } else if (bundle.getState() == Bundle.INSTALLED || bundle.getState() == Bundle.RESOLVED) {
            startBundle(bundle);
        }
    }

    /// {@return the command line's entry; of several the highest-ranked one}
    ///
    /// @throws PlatformException when there is none; the text names the bundles that failed
    EntryPoint cli() {
        BundleContext context = framework.getBundleContext();
        ServiceReference<EntryPoint> best = context.getServiceReference(EntryPoint.class);
        EntryPoint cli = best == null ? null : context.getService(best);
        if (cli != null) {
            return cli;
        }
        List<String> noted = problems.lines();
        String why = noted.isEmpty()
                ? "No bundle failed, so the bundle of the command line is missing from " + home.bundles()
                        + " or one of its components lacks a service."
                : "These bundles failed:\n  " + String.join("\n  ", noted) + "\n";
        throw new PlatformException("The command line did not start. " + why
                + (trust.strict()
                        ? " If you trust what is installed, list it: sha256sum bundles/*.jar bundles/*/*.jar >>"
                                + " etc/trusted-bundles.txt."
                        : " Unpack or build the distribution again."));
    }

    /// {@return what is wrong with the bundles}
    List<String> problems() {
        return problems.lines();
    }

    /// {@return the framework's own context}
    BundleContext context() {
        return framework.getBundleContext();
    }

    /// Stops the bundles and the framework and removes its working folder; waits for half a minute
    /// at most.
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        awaitFolders();
        try {
            framework.stop();
            if (framework.waitForStop(STOP_MILLIS).getType() == FrameworkEvent.WAIT_TIMEDOUT) {
                log().warn("A bundle did not stop within {} ms", STOP_MILLIS);
            }
        } catch (BundleException e) {
            log().warn("The framework did not stop cleanly: {}", NotedProblems.reason(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        cache.close();
    }

    /// Waits for a start of FileInstall to end, but not for long: a jar of `deploy` may hang while
    /// it starts.
    private void awaitFolders() {
        try {
            if (watching.tryLock(FOLDER_MILLIS, TimeUnit.MILLISECONDS)) {
                watching.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // Felix takes its logger as an object among the texts
    private static Map<String, String> properties(Home home, Path cache, String factory) {
        Map<String, String> properties = new HashMap<>();
        properties.put(Constants.FRAMEWORK_STORAGE, cache.resolve("framework").toString());
        properties.put(Constants.FRAMEWORK_STORAGE_CLEAN, Constants.FRAMEWORK_STORAGE_CLEAN_ONFIRSTINIT);
        properties.put(Constants.FRAMEWORK_SYSTEMPACKAGES_EXTRA, exported());
        // A new version of a bundle is tested next to the old one, which may have the same version
        // number.
        properties.put(Constants.FRAMEWORK_BSNVERSION, Constants.FRAMEWORK_BSNVERSION_MULTIPLE);
        properties.put("felix.service.urlhandlers", "false");
        properties.put("felix.log.level", "2");
        // Threads of the resolver's own take longer to start than they save with so few bundles.
        properties.put("felix.resolver.parallelism", "1");
        properties.put("ds.loglevel", "error");
        properties.put("ds.lock.timeout.milliseconds", COMPONENT_MILLIS);
        properties.put("ds.stop.timeout.milliseconds", COMPONENT_MILLIS);
        // Each start reads etc/*.cfg, so configurations need not be stored.
        properties.put("felix.cm.pm", "memory");
        properties.put("felix.fileinstall.dir", home.deploy() + "," + home.etc());
        properties.put("felix.fileinstall.tmpdir", cache.resolve("fileinstall").toString());
        properties.put("felix.fileinstall.filter", "[^.].*\\.(cfg|config|jar)");
        // Folders would be packed and then not be opened: their protocol needs the URL handlers.
        properties.put("felix.fileinstall.subdir.mode", "skip");
        properties.put("felix.fileinstall.poll", System.getProperty("tenon.watch.poll", "250"));
        properties.put("felix.fileinstall.noInitialDelay", "true");
        properties.put("felix.fileinstall.disableNio2", "true");
        properties.put("felix.fileinstall.enableConfigSave", "false");
        properties.put("felix.fileinstall.configEncoding", "UTF-8");
        properties.put("felix.fileinstall.log.level", "2");
        properties.put("felix.fileinstall.log.default", "jul");
        properties.put("tenon.home", home.root().toString());
        if (FELIX_FACTORY.equals(factory)) {
            ((Map) properties).put("felix.log.logger", new FelixLog());
        }
        return properties;
    }

    /// {@return the packages of the launcher's class path that bundles may import, from a resource
    /// that the build fills with the versions, and what the framework does not find itself}
    private static String exported() {
        return BuildProperties.get("exports") + (VectorModule.isLate() ? "," + VectorModule.NAME : "");
    }

    /// Not a constant: logging is set up when something is logged first.
    private static Logger log() {
        return LoggerFactory.getLogger(Platform.class);
    }
}
