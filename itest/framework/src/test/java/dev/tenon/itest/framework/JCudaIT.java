package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.wiring.FrameworkWiring;

/// JCuda as a bundle: the framework finds its native libraries, each time that the bundle gets new classes.
class JCudaIT {
    private static final String COMPILER = "dev.tenon.kernels.nvidia.compile.PtxCompiler";
    private static final String BINDING = "dev.tenon.kernels.nvidia.binding.CudaBindingProvider";

    @TempDir
    Path cache;

    @BeforeAll
    static void itsNativesRunHere() {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(machine.equals("Linux amd64"), "JCuda's natives are for Linux on x86-64, this is " + machine);
    }

    private static Object call(Object service, String method, Class<?> type, Object argument) throws Exception {
        try {
            return type == null
                    ? service.getClass().getMethod(method).invoke(service)
                    : service.getClass().getMethod(method, type).invoke(service, argument);
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    private static void refresh(Bundle bundle) throws Exception {
        CountDownLatch refreshed = new CountDownLatch(1);
        bundle.getBundleContext()
                .getBundle(0)
                .adapt(FrameworkWiring.class)
                .refreshBundles(List.of(bundle), event -> refreshed.countDown());
        assertTrue(refreshed.await(5, TimeUnit.MINUTES), "the framework does not refresh");
    }

    @ParameterizedTest
    @EnumSource
    void itsLibrariesAreLoadedFromTheBundleAgainAndAgain(Osgi.Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, cache, false)) {
            osgi.startEverything();
            Bundle bundle = osgi.bundle("dev.tenon.jcuda");
            ClassLoader before = null;
            for (int i = 0; i < 2; i++) {
                Object compiler = osgi.service(COMPILER, "(component.name=*)");
                assertEquals("nvPTXCompiler 12.0", call(compiler, "name", null, null));
                ClassLoader loader = compiler.getClass().getClassLoader();
                assertNotEquals(before, loader, "the same classes after a refresh");
                before = loader;
                refresh(bundle);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void withoutADriverTheBindingSaysWhatIsMissing(Osgi.Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, cache, false)) {
            osgi.startEverything();
            Object provider = osgi.service(BINDING, "(binding.name=jcuda)");
            Class<?> binding =
                    provider.getClass().getClassLoader().loadClass("dev.tenon.kernels.nvidia.binding.CudaBinding");
            Object answer = call(provider, "open", binding, null);
            if (answer instanceof Throwable failure) {
                assertTrue(failure.getMessage().contains("libcuda.so.1"), failure.toString());
                assertTrue(failure.getMessage().contains("[BACKEND-001]"), failure.toString());
            } else {
                assertEquals("jcuda", call(answer, "name", null, null));
            }
        }
    }
}
