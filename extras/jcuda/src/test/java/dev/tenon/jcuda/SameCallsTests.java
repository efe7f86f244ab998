package dev.tenon.jcuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.BackendException;
import dev.tenon.backend.cuda.ffm.DriverLibrary;
import dev.tenon.backend.cuda.ffm.FfmBinding;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.binding.KernelLaunch;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/// What reaches the driver through JCuda is what reaches it through `java.lang.foreign`, call by call and argument by
/// argument. The driver is a library compiled here, that writes down how it is called.
class SameCallsTests {
    /// Stays until the process ends, as the library does.
    @TempDir(cleanup = CleanupMode.NEVER)
    static Path folder;

    private static MethodHandle log;
    private static MethodHandle clear;
    private static CudaBinding ffm;
    private static CudaBinding jcuda;

    @BeforeAll
    static void compileTheDriver() throws Exception {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(machine.equals("Linux amd64"), "JCuda's natives are for Linux on x86-64, this is " + machine);
        Path source = folder.resolve("driver.c");
        try (InputStream in = SameCallsTests.class.getResourceAsStream("driver.c")) {
            Files.copy(in, source);
        }
        Path library = folder.resolve("libcuda.so.1");
        Process compiler;
        try {
            compiler = new ProcessBuilder(
                            "cc",
                            "-shared",
                            "-fPIC",
                            "-O1",
                            "-w",
                            "-Wl,-soname,libcuda.so.1",
                            "-o",
                            library.toString(),
                            source.toString())
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "no C compiler: " + e.getMessage());
            return;
        }
        assertEquals(0, compiler.waitFor(), "cc");
        SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
        DriverLibrary.libraries = name -> symbols;
        log = Linker.nativeLinker()
                .downcallHandle(symbols.find("standin_log").orElseThrow(), FunctionDescriptor.of(ADDRESS));
        clear = Linker.nativeLinker()
                .downcallHandle(symbols.find("standin_clear").orElseThrow(), FunctionDescriptor.ofVoid(JAVA_INT));
        ffm = FfmBinding.get();
        jcuda = new JCudaBindingProvider().open(ffm);
    }

    private static Object argument(Class<?> type, int index, MemorySegment kernelArguments) {
        return switch (type.getSimpleName()) {
            case "long" -> 0x7000_0000_0000L + 16 * index;
            case "int" -> 3 + index;
            case "byte" -> (byte) 200;
            case "boolean" -> true;
            case "String" -> "named";
            case "byte[]" -> new byte[] {'c', 'o', 'd', 'e'};
            case "MemorySegment" -> kernelArguments;
            case "KernelLaunch" -> new KernelLaunch(0x70001L, "k", 2, 3, 4, 64, 512, 1, false);
            default -> throw new AssertionError("a parameter of type " + type);
        };
    }

    /// Calls each function, and returns what reached the driver and what came back.
    private static List<String> calls(CudaBinding binding, int result) throws Throwable {
        clear.invoke(result);
        List<String> back = new ArrayList<>();
        List<Method> methods = Arrays.stream(CudaBinding.class.getMethods())
                .filter(m -> !Modifier.isStatic(m.getModifiers()))
                .filter(m -> !m.getName().equals("name"))
                .sorted(Comparator.comparing(Method::getName))
                .toList();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(ADDRESS, 2);
            arguments.setAtIndex(ADDRESS, 0, arena.allocateFrom(JAVA_LONG, 0x1234567890L));
            arguments.setAtIndex(ADDRESS, 1, arena.allocateFrom(JAVA_INT, -7));
            for (Method method : methods) {
                Object[] given = new Object[method.getParameterCount()];
                for (int i = 0; i < given.length; i++) {
                    given[i] = argument(method.getParameterTypes()[i], i, arguments);
                }
                if (method.getName().equals("allocateHost")) {
                    given[0] = 64L; // JNI wraps it in a buffer, which has to be smaller than 2 GiB
                } else if (method.getName().equals("freeHost") && result == 0) {
                    given[0] = binding.allocateHost(64);
                }
                try {
                    Object value = method.invoke(binding, given);
                    back.add(method.getName() + " "
                            + (value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value)));
                } catch (InvocationTargetException e) {
                    BackendException failure = (BackendException) e.getCause();
                    back.add(method.getName() + " failed with " + failure.nativeCode() + ": "
                            + failure.getMessage().replace("cuLaunchKernelEx", "cuLaunchKernel"));
                }
            }
        }
        String reached = ((MemorySegment) log.invoke()).reinterpret(1 << 16).getString(0);
        back.addAll(reached.lines().toList());
        return back;
    }

    @Test
    void everyCallReachesTheDriverWithTheSameArguments() throws Throwable {
        List<String> expected = calls(ffm, 0);
        assertTrue(expected.size() > 70, expected.toString());
        assertEquals(String.join("\n", expected), String.join("\n", calls(jcuda, 0)));
        assertTrue(expected.stream().noneMatch(line -> line.contains("failed")), expected.toString());
    }

    @Test
    void whatFailsFailsAlike() throws Throwable {
        List<String> expected = calls(ffm, 2);
        List<String> got = calls(jcuda, 2);
        // The two name some functions with and without the suffix of their version.
        assertEquals(without(expected), without(got));
        assertTrue(new TreeSet<>(expected)
                        .stream().filter(l -> l.contains("failed with 2")).count()
                > 35);
    }

    private static String without(List<String> lines) {
        return String.join("\n", lines)
                .replaceAll("_v2", "")
                .replace("cuEventRecordWithFlags failed", "cuEventRecord failed");
    }

    @Test
    void whatIsUnderWayIsNoFailure() throws Throwable {
        clear.invoke(0);
        assertEquals(false, ffm.streamEnded(0x600));
        assertEquals(false, jcuda.streamEnded(0x600));
    }

    @Test
    void launchesWithAttributesGoTheOtherWay() throws Throwable {
        clear.invoke(0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(ADDRESS, 2);
            arguments.setAtIndex(ADDRESS, 0, arena.allocateFrom(JAVA_LONG, 1L));
            arguments.setAtIndex(ADDRESS, 1, arena.allocateFrom(JAVA_INT, 2));
            jcuda.launchKernel(new KernelLaunch(9, "k", 1, 1, 4, 32, 0, 4, true), arguments, 8);
        }
        String reached = ((MemorySegment) log.invoke()).reinterpret(1 << 16).getString(0);
        assertTrue(reached.contains("attributes 2"), reached);
    }

    @Test
    void aModuleThatIsNotLoadedHasTheDriversLog() throws Throwable {
        clear.invoke(2);
        for (CudaBinding binding : List.of(ffm, jcuda)) {
            BackendException e = assertThrows(BackendException.class, () -> binding.loadModule("m", new byte[] {'x'}));
            assertTrue(e.getMessage().contains("the log"), e.getMessage());
        }
    }
}
