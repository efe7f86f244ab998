package dev.tenon.backend.cpu.vector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.backend.cpu.vector.op.OpTests;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CpuVectorBackendTests {
    private static final String HOTSPOT = "OpenJDK 64-Bit Server VM";
    private static final String MIXED = "mixed mode, sharing";

    @Test
    void probeDescribesThisMachine() {
        CpuVectorBackend backend = new CpuVectorBackend();
        Probe probe = backend.probe();
        assertTrue(probe.available());
        assertEquals(List.of(), probe.issues());
        DeviceInfo info = backend.devices().getFirst();
        assertEquals("cpu", info.kind());
        assertFalse(info.name().isBlank());
        assertTrue(info.details().keySet().containsAll(List.of("vector-bits", "threads", "c2")));
    }

    @Test
    void anUnknownDeviceIsRefused() {
        BackendException e = assertThrows(
                BackendException.class,
                () -> new CpuVectorBackend()
                        .open(DeviceOptions.builder().deviceId("1").build()));
        assertEquals(ErrorCode.BACKEND_UNAVAILABLE, e.code());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "OpenJDK Server VM | Temurin-25 | mixed mode, sharing | -Xmx1g | true | ''",
                "OpenJDK Server VM | Temurin-25 | mixed mode, sharing | -Xmx1g | false | --add-modules",
                "OpenJDK Server VM | Temurin-25 | interpreted mode | -Xint | true | -Xint",
                "OpenJDK Server VM | Temurin-25 | mixed mode, emulated-client | -XX:TieredStopAtLevel=1 | true | C1",
                "OpenJDK Server VM | Temurin-25 | mixed mode | -XX:TieredStopAtLevel=3 | true | TieredStopAtLevel=3",
                "OpenJDK Server VM | Temurin-25 | mixed mode | -XX:TieredStopAtLevel=4 | true | ''",
                "OpenJDK Server VM | Temurin-25 | mixed mode | -XX:+UseJVMCICompiler | true | Graal",
                "OpenJDK 64-Bit Server VM | GraalVM CE 25 | mixed mode | -Xmx1g | true | GraalVM",
                "Eclipse OpenJ9 VM | Temurin-25 | JRE 25 | -Xmx1g | true | OpenJ9"
            })
    void whatKeepsC2AwayIsNamed(
            String vm, String vendor, String info, String argument, boolean module, String expected) {
        List<Issue> issues = JvmCheck.issues(new JvmCheck.Facts(vm, vendor, info, List.of(argument), module));
        assertEquals(expected.isEmpty() ? 0 : 1, issues.size(), issues.toString());
        boolean c2 = expected.isEmpty() || expected.equals("--add-modules");
        assertEquals(c2, JvmCheck.isC2(new JvmCheck.Facts(vm, vendor, info, List.of(argument), module)));
        for (Issue issue : issues) {
            assertEquals(ErrorCode.ENV_JVM, issue.code());
            assertTrue(issue.message().contains(expected), issue.message());
        }
    }

    @Test
    void theLastOfContradictingOptionsCounts() {
        List<String> arguments = List.of("-XX:+UseJVMCICompiler", "-XX:-UseJVMCICompiler");
        assertEquals(List.of(), JvmCheck.issues(new JvmCheck.Facts(HOTSPOT, "GraalVM CE 25", MIXED, arguments, true)));
    }

    /// A class loader that knows the backend but not the Vector API, like a JVM without the module.
    private static final class WithoutVectors extends URLClassLoader {
        WithoutVectors() {
            super(new URL[0], CpuVectorBackendTests.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("jdk.incubator.vector")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("dev.tenon.backend")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /// Loaded by [WithoutVectors]; runs a step with plain Java kernels.
    public static final class PlainJavaStep implements Runnable {
        @Override
        public void run() {
            DeviceInfo info = new DeviceInfo("0", "test", "cpu", 0, Map.of());
            try (CpuDevice device = new CpuDevice(info, 2, new KernelSet(false))) {
                TinyModel model = TinyModel.create(1, TestWeights.F32, true);
                OpTests.check(device, model.graph(), model.weights());
            }
        }
    }

    @Test
    void withoutTheVectorModuleTheBackendRunsPlainJava() throws Exception {
        try (WithoutVectors loader = new WithoutVectors()) {
            assertThrows(ClassNotFoundException.class, () -> loader.loadClass("jdk.incubator.vector.FloatVector"));
            Class<?> step = loader.loadClass(PlainJavaStep.class.getName());
            ((Runnable) step.getDeclaredConstructor().newInstance()).run();
            loader.loadClass(CpuVectorBackend.class.getName())
                    .getDeclaredConstructor()
                    .newInstance();
        }
    }
}
