package dev.tenon.platform.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.trust.SignedJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Jars that try to have their code run in spite of the policy, in the whole distribution. Each leaves a mark where
/// its code runs.
class TrustAttacksIT extends LauncherHome {
    private static final String CODE = """
            package NAME;
            public class Code implements org.osgi.framework.BundleActivator {
                static {
                    try {
                        java.nio.file.Files.writeString(java.nio.file.Path.of("MARKS", "NAME"), "");
                    } catch (java.io.IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                }
                public void start(org.osgi.framework.BundleContext c) {}
                public void stop(org.osgi.framework.BundleContext c) {}
            }
            """;

    /// Installs a bundle and a fragment, and raises the start level to theirs; ends with its own mark.
    private static final String INSTALLER = """
            package installer;
            import java.nio.file.*;
            import java.util.*;
            import org.osgi.framework.*;
            import org.osgi.framework.startlevel.*;
            import org.osgi.framework.wiring.*;
            public class Code implements BundleActivator {
                public void start(BundleContext c) {
                    new Thread(() -> {
                        try {
                            attack(c);
                            Files.writeString(Path.of("MARKS", "installer"), "");
                        } catch (Exception e) {
                            e.printStackTrace();
                        }
                    }).start();
                }
                private void attack(BundleContext c) throws Exception {
                    Bundle framework = c.getBundle(0);
                    Bundle host = null;
                    for (Bundle each : c.getBundles()) {
                        host = "host".equals(each.getSymbolicName()) ? each : host;
                    }
                    Bundle fragment = c.installBundle("file:FOLDER/fragment.jar");
                    Bundle plain = c.installBundle("file:FOLDER/plain.jar");
                    for (Bundle each : List.of(fragment, plain)) {
                        each.adapt(BundleStartLevel.class).setStartLevel(7);
                    }
                    plain.start(); // when its level is reached
                    var raised = new java.util.concurrent.CountDownLatch(1);
                    framework.adapt(FrameworkStartLevel.class).setStartLevel(9, event -> raised.countDown());
                    raised.await();
                    var refreshed = new java.util.concurrent.CountDownLatch(1);
                    FrameworkWiring wiring = framework.adapt(FrameworkWiring.class);
                    wiring.refreshBundles(List.of(host, fragment, plain), event -> refreshed.countDown());
                    refreshed.await();
                    wiring.resolveBundles(null);
                    try {
                        host.loadClass("fragment.Code").getDeclaredConstructor().newInstance();
                    } catch (ClassNotFoundException e) {
                        System.out.println("the fragment is not attached");
                    }
                    try {
                        plain.start();
                    } catch (BundleException e) {
                        System.out.println("the bundle does not start");
                    }
                }
                public void stop(BundleContext c) {}
            }
            """;

    /// Bundles that run where nothing is required of them.
    private static final Set<String> SOUND = Set.of("plain", "demanding", "nested", "linked", "dynamic", "lazy");

    private Path marks;

    @BeforeEach
    void makeMarks() throws IOException {
        marks = Files.createDirectory(folder.resolve("marks"));
    }

    private void installEverything() throws IOException {
        Files.delete(home.resolve("bundles/fake-cli.jar"));
        Path bundles = Path.of(System.getProperty("tenon.test.home")).resolve("bundles");
        for (Path jar : Home.files(bundles, ".jar")) {
            Files.copy(jar, home.resolve("bundles").resolve(jar.getFileName()));
        }
    }

    private void policy(String trust) throws IOException {
        List<String> digests = new ArrayList<>();
        for (Path folder : List.of(home.resolve("bundles/system"), home.resolve("bundles"))) {
            for (Path jar : Home.files(folder, ".jar")) {
                digests.add(SignedJar.read(jar).sha256());
            }
        }
        Files.write(home.resolve("etc/trusted-bundles.txt"), digests);
        Files.writeString(home.resolve("etc/dev.tenon.platform.bundles.cfg"), "bundles.trust = " + trust + "\n");
    }

    private Set<String> marked() {
        Set<String> names = new TreeSet<>();
        Home.files(marks, "").forEach(file -> names.add(file.getFileName().toString()));
        return names;
    }

    private FakeBundle code(String name, FakeBundle bundle) {
        return bundle.header("Import-Package", "org.osgi.framework")
                .type(name + ".Code", CODE.replace("NAME", name).replace("MARKS", marks.toString()));
    }

    private FakeBundle bundle(String name) {
        return code(name, new FakeBundle(name)).header("Bundle-Activator", name + ".Code");
    }

    private void writeSound(Path to) throws IOException {
        bundle("plain").write(to.resolve("plain.jar"));
        bundle("lazy").header("Bundle-ActivationPolicy", "lazy").write(to.resolve("lazy.jar"));
        bundle("demanding")
                .header("Require-Capability", "osgi.ee;filter:=\"(&(osgi.ee=JavaSE)(version=21))\"")
                .header("Provide-Capability", "osgi.extender;osgi.extender=\"osgi.component\";version:Version=\"9\"")
                .write(to.resolve("demanding.jar"));
        Path inner = bundle("nested").write(folder.resolve("inner.jar"));
        new FakeBundle("nested")
                .header("Import-Package", "org.osgi.framework")
                .header("Bundle-ClassPath", "lib/inner.jar")
                .header("Bundle-Activator", "nested.Code")
                .entry("lib/inner.jar", Files.readAllBytes(inner))
                .write(to.resolve("nested.jar"));
        Path elsewhere = bundle("linked").write(folder.resolve("elsewhere.jar"));
        Files.createSymbolicLink(to.resolve("linked.jar"), elsewhere);
        bundle("dynamic").header("DynamicImport-Package", "*").write(to.resolve("dynamic.jar"));
    }

    /// A fragment that adds a class to the framework, and has it run.
    private void writeExtension(Path to) throws IOException {
        code("extension", new FakeBundle("extension"))
                .header("Fragment-Host", "system.bundle; extension:=framework")
                .header("Export-Package", "extension")
                .header("ExtensionBundle-Activator", "extension.Code")
                .write(to.resolve("extension.jar"));
    }

    /// A fragment that lays its class over one of the command line's.
    private void writeFragment(Path to) throws IOException {
        code("fragment", new FakeBundle("fragment"))
                .header("Fragment-Host", "dev.tenon.platform.cli")
                .write(to.resolve("fragment.jar"));
    }

    private void writeShadow(Path to) throws IOException {
        bundle("shadow")
                .header("Export-Package", "shadow,dev.tenon.api.quant;uses:=\"a,b\";version=\"9.0.0\"")
                .type("dev.tenon.api.quant.QuantFormat", "package dev.tenon.api.quant; public interface QuantFormat {}")
                .write(to.resolve("shadow.jar"));
    }

    private void writeOutside(Path to) throws IOException {
        bundle("outside").header("Bundle-SymbolicName", "../bin/outside").write(to.resolve("outside.jar"));
    }

    private static void assertLine(Result result, String... parts) {
        assertTrue(contains(result.out(), parts) || contains(result.err(), parts), result::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"any", "signed", "listed"})
    void whatIsCopiedIntoDeployRunsByThePolicyAlone(String trust) throws Exception {
        installEverything();
        policy(trust);
        Path deploy = home.resolve("deploy");
        writeSound(deploy);
        writeExtension(deploy);
        writeFragment(deploy);
        writeShadow(deploy);
        writeOutside(deploy);
        Process pipe = new ProcessBuilder("mkfifo", deploy.resolve("pipe.jar").toString()).start();
        assertEquals(0, pipe.waitFor());

        Result result = run("bundles", "--problems");

        assertLine(result, "deploy/extension.jar is ignored: ", "[BUNDLE-003]");
        assertLine(result, "deploy/fragment.jar is ignored: ", "[BUNDLE-003]");
        assertLine(result, "deploy/shadow.jar is ignored: ", "dev.tenon.api.quant", "[BUNDLE-002]");
        assertLine(result, "deploy/pipe.jar is ignored: ");
        Result removed = run("bundles", "remove", "no.such");
        assertLine(removed, "There is no bundle no.such", "[BUNDLE-003]");
        assertLine(result, "deploy/outside.jar is ignored: ", "../bin/outside", "[BUNDLE-001]");
        if (trust.equals("any")) {
            assertEquals(new TreeSet<>(SOUND), marked());
            return;
        }
        for (String name : SOUND) {
            assertLine(result, "deploy/" + name + ".jar is ignored: ", "[BUNDLE-005]");
        }
        assertEquals(Set.of(), marked());
    }

    @ParameterizedTest
    @ValueSource(strings = {"any", "signed", "listed"})
    void whatIsPutBesideTheDistributionsBundlesRunsByThePolicyAlone(String trust) throws Exception {
        installEverything();
        policy(trust);
        Path bundles = home.resolve("bundles");
        writeSound(bundles);
        writeExtension(bundles);
        writeFragment(bundles);
        writeShadow(bundles);
        Files.createDirectory(bundles.resolve("folder.jar"));

        Result result = run("bundles", "--problems");

        assertLine(result, "bundles/folder.jar was not installed: it is no file");

        assertLine(result, "bundles/shadow.jar was not installed: ", "[BUNDLE-00");
        assertFalse(marked().contains("shadow"), () -> marked().toString());
        if (trust.equals("any")) {
            assertEquals(
                    new TreeSet<>(
                            SOUND.stream().filter(name -> !name.equals("lazy")).toList()),
                    marked());
            return;
        }
        for (String name : List.of("extension", "fragment")) {
            assertLine(result, "bundles/" + name + ".jar was not installed: ", "[BUNDLE-005]");
        }
        for (String name : SOUND) {
            assertLine(result, "bundles/" + name + ".jar was not installed: ", "[BUNDLE-005]");
        }
        assertEquals(Set.of(), marked());
    }

    /// The framework attaches its extensions when they are installed, without asking whether they resolve.
    @Test
    void withoutTheManagerOfBundlesTheWatcherOfFoldersInstallsNothingUntrusted() throws Exception {
        policy("listed");
        writeSound(home.resolve("deploy"));
        writeExtension(home.resolve("deploy"));

        assertEquals(List.of("inactive"), run("bundle", "plain").out());
        assertEquals(Set.of(), marked());
    }

    @Test
    void ofTwoVersionsInBundlesTheHigherOneRuns() throws Exception {
        bundle("twice").write(home.resolve("bundles/a.jar"));
        bundle("twice").header("Bundle-Version", "1.1.0").write(home.resolve("bundles/b.jar"));
        bundle("twice").header("Bundle-Version", "0.9.0").write(home.resolve("bundles/c.jar"));

        Result result = run("problems");

        assertEquals(2, result.out().size(), result::toString);
        assertLine(result, "bundles/a.jar was not installed: ", "bundles/b.jar", "twice 1.1.0");
        assertLine(result, "bundles/c.jar was not installed: ", "bundles/b.jar", "twice 1.1.0");
        assertEquals(List.of("active"), run("bundle", "twice").out());
    }

    /// A start level does not stand in for a check: what was not admitted is not resolved on any.
    @ParameterizedTest
    @ValueSource(strings = {"any", "signed", "listed"})
    void aTrustedBundleBringsNoOtherWhateverTheStartLevel(String trust) throws Exception {
        String source = INSTALLER.replace("MARKS", marks.toString()).replace("FOLDER", folder.toString());
        new FakeBundle("installer")
                .header("Import-Package", "org.osgi.framework,org.osgi.framework.startlevel,org.osgi.framework.wiring")
                .header("Bundle-Activator", "installer.Code")
                .type("installer.Code", source)
                .write(home.resolve("bundles/installer.jar"));
        new FakeBundle("host").header("Import-Package", "org.osgi.framework").write(home.resolve("bundles/host.jar"));
        policy(trust);
        bundle("plain").write(folder.resolve("plain.jar"));
        code("fragment", new FakeBundle("fragment"))
                .header("Fragment-Host", "host")
                .write(folder.resolve("fragment.jar"));

        Process process = start(List.of(script(), "watch"), "");
        while (!marked().contains("installer") && process.isAlive()) {
            Thread.sleep(50);
        }
        process.outputWriter().close();
        Result result = finish(process);

        if (trust.equals("any")) {
            assertEquals(Set.of("installer", "plain", "fragment"), marked(), result::toString);
            return;
        }
        assertEquals(Set.of("installer"), marked(), result::toString);
        assertTrue(result.out().contains("the fragment is not attached"), result::toString);
        assertTrue(result.out().contains("the bundle does not start"), result::toString);
    }
}
