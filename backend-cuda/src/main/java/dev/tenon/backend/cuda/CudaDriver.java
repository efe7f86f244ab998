package dev.tenon.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
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

/// The CUDA driver, `libcuda.so.1`. Safe for any thread.
///
/// The library stays open until the process ends: it is the machine's, not this bundle's, keeps
/// threads of its own, and opening it again gives the same one. Calls that a step makes go through
/// constant method handles; all others through the table of [DriverCall].
final class CudaDriver {
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    static final int OUT_OF_MEMORY = 2;
    /// `CUDA_ERROR_NOT_READY`: something asked for is still under way.
    static final int NOT_READY = 600;
    /// Where the driver may be, in the order of trying; a name without a folder is looked for by
    /// the loader.
    static final List<String> LIBRARIES = List.of(
            "libcuda.so.1",
            "/usr/lib/wsl/lib/libcuda.so.1",
            "/usr/local/nvidia/lib64/libcuda.so.1",
            "/usr/lib64/nvidia/libcuda.so.1");

    /// Opens a library; tests put a stand-in for the driver here before anything asks for it.
    static Function<String, SymbolLookup> libraries = name -> SymbolLookup.libraryLookup(name, Arena.global());

    private final SymbolLookup library;
    private final Map<DriverCall, MethodHandle> handles = new EnumMap<>(DriverCall.class);

    private CudaDriver(SymbolLookup library) {
        this.library = library;
    }

    /// The one driver of the process, or why there is none.
    private static final class Holder {
        static final CudaDriver DRIVER;
        static final String MISSING;

        static {
            CudaDriver driver = null;
            List<String> tried = new ArrayList<>();
            for (String name : LIBRARIES) {
                try {
                    driver = new CudaDriver(libraries.apply(name));
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
    static String missing() {
        return Holder.MISSING;
    }

    /// {@return the driver}
    ///
    /// @throws BackendException if there is none
    static CudaDriver get() {
        if (Holder.MISSING != null) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "backend " + CudaBackend.ID + ": " + Holder.MISSING
                            + ". Install NVIDIA's driver, or choose another backend.");
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

    /// Throws if a call failed.
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
        return new BackendException(
                ErrorCode.BACKEND_FAILED,
                name + " failed: " + errorName(result)
                        + ". The device can no longer be used by this model; load it again, or choose another backend.",
                result,
                null);
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
    static RuntimeException rethrow(Throwable t) {
        if (t instanceof RuntimeException e) {
            throw e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        throw new IllegalStateException(t);
    }

    /// The calls that each step makes. Not to be touched before [CudaDriver#get()] has given a
    /// driver.
    static final class Hot {
        private static final CudaDriver DRIVER = get();
        private static final MethodHandle SET_CURRENT = DRIVER.handle(DriverCall.cuCtxSetCurrent);
        private static final MethodHandle LAUNCH_GRAPH = DRIVER.handle(DriverCall.cuGraphLaunch);
        private static final MethodHandle LAUNCH_KERNEL = DRIVER.handle(DriverCall.cuLaunchKernelEx);
        private static final MethodHandle SYNCHRONIZE = DRIVER.handle(DriverCall.cuStreamSynchronize);
        private static final MethodHandle TO_DEVICE = DRIVER.handle(DriverCall.cuMemcpyHtoDAsync_v2);
        private static final MethodHandle TO_HOST = DRIVER.handle(DriverCall.cuMemcpyDtoHAsync_v2);

        private Hot() {}

        static void setCurrent(long context) {
            try {
                DRIVER.check((int) SET_CURRENT.invokeExact(context), "cuCtxSetCurrent");
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }

        static void launchGraph(long graph, long stream) {
            try {
                DRIVER.check((int) LAUNCH_GRAPH.invokeExact(graph, stream), "cuGraphLaunch");
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }

        static void launchKernel(MemorySegment config, long function, MemorySegment arguments, String name) {
            try {
                int result = (int) LAUNCH_KERNEL.invokeExact(config, function, arguments, MemorySegment.NULL);
                if (result != 0) {
                    throw DRIVER.failure(result, "cuLaunchKernelEx of " + name);
                }
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }

        static void synchronize(long stream) {
            try {
                DRIVER.check((int) SYNCHRONIZE.invokeExact(stream), "cuStreamSynchronize");
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }

        static void toDevice(long device, long host, long bytes, long stream) {
            try {
                DRIVER.check((int) TO_DEVICE.invokeExact(device, host, bytes, stream), "cuMemcpyHtoDAsync");
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }

        static void toHost(long host, long device, long bytes, long stream) {
            try {
                DRIVER.check((int) TO_HOST.invokeExact(host, device, bytes, stream), "cuMemcpyDtoHAsync");
            } catch (Throwable t) {
                throw rethrow(t);
            }
        }
    }
}
