package dev.tenon.itest.framework;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.osgi.framework.Bundle;

/// The manager of bundles in a running framework, whose type only its own bundle knows, and new versions
/// of our bundles for it.
final class Manager {
    static final String FORMATS = "dev.tenon.quant.formats";
    static final String MODELS = "dev.tenon.models.qwen3";
    static final String LFM2 = "dev.tenon.models.lfm2";
    static final String GEMMA = "dev.tenon.models.gemma";
    static final String BACKEND = "dev.tenon.backend.cpu.vector";
    static final String KERNELS = "dev.tenon.kernels.x86";
    static final String SERVER = "dev.tenon.platform.server";
    /// Jars by the symbolic names of their bundles.
    static final Map<String, String> PIECES = Map.of(
            FORMATS, "quant-formats",
            MODELS, "models-qwen3",
            LFM2, "models-lfm2",
            GEMMA, "models-gemma",
            BACKEND, "backend-cpu-vector",
            KERNELS, "kernels-x86",
            SERVER, "platform-server");

    private final Osgi osgi;

    Manager(Osgi osgi) {
        this.osgi = osgi;
    }

    /// Installs a jar, or has it take the place of the running bundle of its name.
    String apply(Path jar) {
        return call("apply", Path.class, jar);
    }

    /// Takes a bundle away.
    String remove(String name) {
        return call("remove", String.class, name);
    }

    /// A line for each bundle whose ids others have.
    List<?> takenIds() {
        Object manager = osgi.service("dev.tenon.platform.bundles.manager.BundleManager", null);
        try {
            return (List<?>) manager.getClass().getMethod("takenIds").invoke(manager);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /// {@return a class of its bundle}
    Class<?> type(String name) throws ClassNotFoundException {
        Object manager = osgi.service("dev.tenon.platform.bundles.manager.BundleManager", null);
        return manager.getClass().getClassLoader().loadClass(name);
    }

    private String call(String method, Class<?> type, Object argument) {
        Object manager = osgi.service("dev.tenon.platform.bundles.manager.BundleManager", null);
        try {
            return (String) manager.getClass().getMethod(method, type).invoke(manager, argument);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /// {@return the installed bundles of a name}
    List<Bundle> bundles(String name) {
        return osgi.bundles().stream()
                .filter(b -> name.equals(b.getSymbolicName()))
                .toList();
    }

    /// Writes one of our bundles with another version into a folder.
    static Path version(String bundle, String version, Path folder) throws IOException {
        Path jar = folder.resolve(bundle + "-" + version + ".jar");
        return Jars.patched(Jars.ours(PIECES.get(bundle)), jar, Map.of("Bundle-Version", version));
    }
}
