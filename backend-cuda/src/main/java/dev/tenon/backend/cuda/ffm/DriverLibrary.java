package dev.tenon.backend.cuda.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// The CUDA driver, `libcuda.so.1`, and the addresses of its functions. Safe for any thread.
///
/// The library stays open until the process ends: it is the machine's, not this bundle's, keeps threads of its own, and
/// opening it again returns the same one.
public final class DriverLibrary {
    /// Where the driver may be, in the order of trying; a name without a folder is looked for by
    /// the loader.
    static final List<String> LIBRARIES = List.of(
            "libcuda.so.1",
            "/usr/lib/wsl/lib/libcuda.so.1",
            "/usr/local/nvidia/lib64/libcuda.so.1",
            "/usr/lib64/nvidia/libcuda.so.1");

    /// Opens a library; tests put a stand-in for the driver here before anything asks for it.
    public static Function<String, SymbolLookup> libraries = name -> SymbolLookup.libraryLookup(name, Arena.global());

    private final SymbolLookup library;
    private final Map<DriverCall, MethodHandle> handles = new EnumMap<>(DriverCall.class);

    private DriverLibrary(SymbolLookup library) {
        this.library = library;
    }

    /// The one driver of the process, or why there is none.
    private static final class Holder {
        static final DriverLibrary DRIVER;
        static final String MISSING;

        static {
            DriverLibrary driver = null;
            List<String> tried = new ArrayList<>();
            for (String name : LIBRARIES) {
                try {
                    driver = new DriverLibrary(libraries.apply(name));
                    break;
                } catch (IllegalArgumentException e) {
                    tried.add(name);
                } catch (IllegalCallerException e) {
                    tried.add("native access is not allowed: start Java with --enable-native-access=ALL-UNNAMED");
                    break;
                }
            }
            String reason = null;
            if (driver == null) {
                reason = "no CUDA driver was found (tried " + String.join(", ", tried) + ")";
            } else {
                int result = driver.tryCall(DriverCall.cuInit, 0);
                if (result != 0) {
                    reason = "the CUDA driver refused to start: " + driver.errorName(result);
                }
            }
            DRIVER = driver;
            MISSING = reason;
        }
    }

    /// {@return why there is no driver that works, or null if there is one}
    public static String missing() {
        return Holder.MISSING;
    }

    /// {@return the driver}
    ///
    /// @throws BackendException if there is none
    public static DriverLibrary get() {
        if (Holder.MISSING != null) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "backend cuda: " + Holder.MISSING + ". Install NVIDIA's driver, or choose another backend.");
        }
        return Holder.DRIVER;
    }

    /// Calls the driver.
    ///
    /// @param call which function
    /// @param arguments boxed as its signature says
    /// @throws BackendException (`BACKEND-003`) with the driver's name for the error
    void call(DriverCall call, Object... arguments) {
        check(tryCall(call, arguments), call.name());
    }

    /// Calls the driver.
    ///
    /// @return the `CUresult`
    int tryCall(DriverCall call, Object... arguments) {
        try {
            return (int) handle(call).invokeWithArguments(arguments);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /// Calls a function whose first argument receives a pointer or handle.
    ///
    /// @return what it received
    long create(DriverCall call, Object... further) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            Object[] arguments = new Object[further.length + 1];
            arguments[0] = out;
            System.arraycopy(further, 0, arguments, 1, further.length);
            call(call, arguments);
            return out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /// Fails if a call failed.
    ///
    /// @param result what it returned
    /// @param name its name, for the message
    void check(int result, String name) {
        if (result != 0) {
            throw failure(result, name);
        }
    }

    /// {@return an exception for a call that failed}
    ///
    /// @param result what it returned
    /// @param name its name
    BackendException failure(int result, String name) {
        return CudaBinding.failure(name, result, errorName(result));
    }

    /// {@return what the driver calls an error}
    ///
    /// @param result a `CUresult`
    String errorName(int result) {
        String name = text(DriverCall.cuGetErrorName, result);
        return name.isEmpty()
                ? "error " + result
                : name + " (" + result + ", " + text(DriverCall.cuGetErrorString, result) + ")";
    }

    private String text(DriverCall call, int result) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            MemorySegment text = tryCall(call, result, out) == 0 ? out.get(ADDRESS, 0) : MemorySegment.NULL;
            return text.equals(MemorySegment.NULL)
                    ? ""
                    : text.reinterpret(Long.MAX_VALUE).getString(0);
        }
    }

    /// {@return the handle of a function}
    ///
    /// @throws BackendException if this driver has no such function
    synchronized MethodHandle handle(DriverCall call) {
        return handles.computeIfAbsent(
                call,
                c -> Linker.nativeLinker()
                        .downcallHandle(
                                library.find(c.name())
                                        .orElseThrow(() -> new BackendException(
                                                ErrorCode.BACKEND_UNAVAILABLE,
                                                "the CUDA driver has no " + c.name()
                                                        + ": it is older than CUDA 11.8; install a newer driver")),
                                c.descriptor()));
    }

    /// {@return never; throws what a method handle threw}
    public static RuntimeException rethrow(Throwable t) {
        if (t instanceof RuntimeException e) {
            throw e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        throw new IllegalStateException(t);
    }
}
