package dev.tenon.platform.core.engine;

import static dev.tenon.platform.core.engine.EngineTests.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.bundle.BundleChangeListener;
import dev.tenon.api.device.Backend;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.StandaloneEngine.InstalledBundle;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/// Which providers an engine without a framework takes, and bundles that come and go while it runs.
class StandaloneTests {
    @TempDir
    Path folder;

    private final ClassLoader own = Thread.currentThread().getContextClassLoader();

    @AfterEach
    void restoreTheClassLoader() {
        Thread.currentThread().setContextClassLoader(own);
    }

    /// Makes an engine of what classes on the class path provide, besides what the platform does.
    private StandaloneEngine engine(Predicate<Class<?>> wanted, Class<?>... architectures) throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.write(
                services.resolve(ModelArchitecture.class.getName()),
                List.of(architectures).stream().map(Class::getName).toList());
        Thread.currentThread()
                .setContextClassLoader(
                        new URLClassLoader(new URL[] {folder.toUri().toURL()}, own));
        return StandaloneEngine.create(Map.of(), wanted);
    }

    /// One of two architectures of one id.
    public static class First implements ModelArchitecture {
        @Override
        public String id() {
            return "llama";
        }

        @Override
        public ModelDefinition define(ModelSource source) {
            throw new IllegalStateException("nothing is loaded");
        }
    }

    /// The other one.
    public static final class Second extends First {}

    /// Whether code of [Unwanted] has run.
    private static boolean ran;

    /// Must not be initialised.
    public static final class Unwanted extends First {
        static {
            ran = true;
        }
    }

    private static TenonException refused(String code, Executable call) {
        TenonException e = assertThrows(TenonException.class, call);
        assertEquals(code, e.code(), e.getMessage());
        return e;
    }

    @Test
    void ofTwoProvidersOfOneIdNeitherIsTakenAndBothAreNamed() throws IOException {
        try (StandaloneEngine engine = engine(type -> true, First.class, Second.class)) {
            TenonException e = refused(ErrorCode.DUPLICATE_ID, () -> engine.load(request()));
            assertTrue(e.getMessage().contains(First.class.getName()), e.getMessage());
            assertTrue(e.getMessage().contains(Second.class.getName()), e.getMessage());
        }
    }

    @Test
    void noCodeRunsOfAProviderThatIsNotWanted() throws IOException {
        try (StandaloneEngine engine = engine(type -> type != Unwanted.class, Unwanted.class, First.class)) {
            assertEquals(
                    List.of(First.class),
                    engine.architectures().stream().map(Object::getClass).toList());
            assertFalse(ran);
        }
        try (StandaloneEngine engine = engine(type -> true, Unwanted.class)) {
            assertEquals(1, engine.architectures().size());
            assertTrue(ran, "the test sees what it looks for");
        }
    }

    @Test
    void bundlesComeAndGo() {
        StandaloneEngine engine = StandaloneEngine.create(Map.of());
        InstalledBundle bundle = engine.installProviders(new FakeFormat(), new First());
        assertEquals(1, engine.formats().size());
        assertEquals(1, engine.architectures().size());
        assertEquals(2, bundle.providers().size());
        TenonException e = refused(ErrorCode.DUPLICATE_ID, () -> engine.installProviders(new Second()));
        assertTrue(e.getMessage().contains("Second") && e.getMessage().contains(First.class.getName()), e.getMessage());
        assertEquals(1, engine.architectures().size());
        bundle.remove();
        bundle.remove();
        assertEquals(List.of(), engine.formats());
        refused(ErrorCode.CLOSED, () -> bundle.replace(jar("late.jar", ModelArchitecture.class.getName(), "x.Y")));
        engine.installProviders(new Second());
        assertThrows(IllegalArgumentException.class, () -> engine.installProviders("no provider"));
        engine.close();
        refused(ErrorCode.CLOSED, () -> engine.installProviders(new FakeFormat()));
    }

    /// A jar with an architecture of its own.
    private Path third(String name) throws IOException {
        Path jar = folder.resolve(name);
        byte[] type = ClassFile.of()
                .build(
                        ClassDesc.of("x.Third"),
                        made -> made.withFlags(ClassFile.ACC_PUBLIC)
                                .withSuperclass(First.class.describeConstable().orElseThrow())
                                .withMethodBody(
                                        "<init>",
                                        ConstantDescs.MTD_void,
                                        ClassFile.ACC_PUBLIC,
                                        code -> code.aload(0)
                                                .invokespecial(
                                                        First.class
                                                                .describeConstable()
                                                                .orElseThrow(),
                                                        "<init>",
                                                        ConstantDescs.MTD_void)
                                                .return_()));
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("META-INF/services/" + ModelArchitecture.class.getName()));
            out.write("x.Third".getBytes());
            out.putNextEntry(new JarEntry("x/Third.class"));
            out.write(type);
        }
        return jar;
    }

    @Test
    void listenersAreToldWhatComesIsRefusedAndGoes() throws IOException {
        List<String> heard = new CopyOnWriteArrayList<>();
        StandaloneEngine engine = StandaloneEngine.create(Map.of());
        engine.installProviders((BundleChangeListener) change -> heard.add(change.kind() + " " + change.text()));
        InstalledBundle bundle = engine.installProviders(new First());
        refused(ErrorCode.DUPLICATE_ID, () -> engine.installProviders(new Second()));
        refused(ErrorCode.BUNDLE_REJECTED, () -> engine.install(jar("none.jar", "java.lang.Runnable", "x.Y")));
        InstalledBundle next = bundle.replace(third("next.jar"));
        next.remove();
        next.remove();
        engine.close(); // waits for the listener
        assertEquals(6, heard.size(), heard::toString);
        assertTrue(heard.get(0).startsWith("INSTALLED "), heard::toString);
        assertEquals("INSTALLED First was installed", heard.get(1));
        assertTrue(heard.get(2).startsWith("REFUSED Second was not installed: architecture llama"), heard::toString);
        assertTrue(heard.get(3).startsWith("REFUSED none.jar was not installed: it offers nothing"), heard::toString);
        assertEquals("UPDATED First was replaced by next.jar", heard.get(4));
        assertEquals("REMOVED next.jar was removed", heard.get(5));
    }

    @Test
    void aBundleThatFailsItsCheckIsRefused() {
        Object broken = Proxy.newProxyInstance(own, new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
            if (method.getName().equals("id")) {
                return "broken";
            }
            throw new IllegalStateException("no driver");
        });
        try (StandaloneEngine engine = StandaloneEngine.create(Map.of())) {
            TenonException e = refused(ErrorCode.BUNDLE_REJECTED, () -> engine.installProviders(broken));
            assertTrue(e.getMessage().contains("no driver"), e.getMessage());
            assertEquals(List.of(), engine.backends());
        }
    }

    private Path jar(String name, String entry, String text) throws IOException {
        Path jar = folder.resolve(name);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("META-INF/services/" + entry));
            out.write(text.getBytes());
        }
        return jar;
    }

    @Test
    void jarsThatOfferNothingOrDoNotLoadAreRefused() throws IOException {
        Path text = Files.writeString(folder.resolve("text.jar"), "no jar");
        Path empty = jar("empty.jar", "java.lang.Runnable", "x.Y");
        Path incomplete = jar("incomplete.jar", ModelArchitecture.class.getName(), "x.Y");
        try (StandaloneEngine engine = StandaloneEngine.create(Map.of())) {
            refused(ErrorCode.BUNDLE_FILE, () -> engine.install(folder.resolve("none.jar")));
            refused(ErrorCode.BUNDLE_FILE, () -> engine.install(text));
            TenonException e = refused(ErrorCode.BUNDLE_REJECTED, () -> engine.install(empty));
            assertTrue(e.getMessage().contains("empty.jar was not installed: it offers nothing"), e.getMessage());
            e = refused(ErrorCode.BUNDLE_REJECTED, () -> engine.install(incomplete));
            assertTrue(e.getMessage().contains("x.Y"), e.getMessage());
        }
    }
}
