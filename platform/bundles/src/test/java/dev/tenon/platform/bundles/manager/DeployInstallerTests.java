package dev.tenon.platform.bundles.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;

class DeployInstallerTests {
    @TempDir
    Path home;

    private boolean stopped;

    /// The context of a bundle, which may have been stopped.
    private BundleContext context(int framework) {
        Bundle system = proxy(Bundle.class, (self, method, args) -> framework);
        return proxy(BundleContext.class, (self, method, args) -> switch (method.getName()) {
            case "getProperty" -> home.toString();
            case "getBundle" -> system;
            case "getBundles" -> {
                if (stopped) {
                    throw new IllegalStateException("Invalid BundleContext.");
                }
                yield new Bundle[0];
            }
            default -> throw new AssertionError(method);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Path jar() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Bundle-SymbolicName", "some.bundle");
        Path file = Files.createDirectories(home.resolve("deploy")).resolve("some.jar");
        new JarOutputStream(Files.newOutputStream(file), manifest).close();
        return file;
    }

    private List<String> linesAfterAJarCame(int framework) throws IOException {
        BundleContext context = context(framework);
        DeployInstaller installer = new DeployInstaller(context, new BundleManager(context, null, null));
        try {
            Path jar = jar();
            stopped = true;
            installer.install(jar.toFile());
            stopped = false;
            return installer.lines();
        } finally {
            installer.deactivate();
        }
    }

    @Test
    void aJarThatIsSeenWhileThePlatformEndsIsLeftToTheNextStart() throws IOException {
        assertEquals(List.of(), linesAfterAJarCame(Bundle.STOPPING));
    }

    @Test
    void whatNobodyForesawIsToldAndNotThrown() throws IOException {
        List<String> lines = linesAfterAJarCame(Bundle.ACTIVE);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.getFirst().startsWith("deploy/some.jar is ignored: unexpected "), lines::toString);
    }
}
