package dev.tenon.kernels.nvidia.compile;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.kernels.nvidia.source.CudaSource;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// NVIDIA's run-time compiler, CUDA C to machine code. Needs no driver and no device. Safe for any
/// thread.
///
/// The library stays open until the process ends.
public final class Nvrtc {
    private static final Map<String, Nvrtc> OPEN = new HashMap<>();

    private final SymbolLookup library;
    private final String path;
    private final String version;
    private final MethodHandle create;
    private final MethodHandle compile;
    private final MethodHandle destroy;
    private final MethodHandle errorString;

    private Nvrtc(SymbolLookup library, String path) {
        this.library = library;
        this.path = path;
        create = bind("nvrtcCreateProgram", ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
        compile = bind("nvrtcCompileProgram", ADDRESS, JAVA_INT, ADDRESS);
        destroy = bind("nvrtcDestroyProgram", ADDRESS);
        errorString = Linker.nativeLinker()
                .downcallHandle(
                        library.find("nvrtcGetErrorString").orElseThrow(), FunctionDescriptor.of(ADDRESS, JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment major = arena.allocate(JAVA_INT);
            MemorySegment minor = arena.allocate(JAVA_INT);
            check((int) bind("nvrtcVersion", ADDRESS, ADDRESS).invokeExact(major, minor), "nvrtcVersion");
            version = major.get(JAVA_INT, 0) + "." + minor.get(JAVA_INT, 0);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /// Opens the first library that can be opened.
    ///
    /// @param finder where to look
    /// @param configured a file or folder from the settings, or empty
    /// @return the compiler
    /// @throws BackendException (`BACKEND-001`) listing what was tried
    public static Nvrtc open(NvrtcFinder finder, String configured) {
        List<String> candidates = finder.candidates(configured);
        synchronized (OPEN) {
            for (String candidate : candidates) {
                Nvrtc known = OPEN.get(candidate);
                if (known != null) {
                    return known;
                }
                try {
                    openBuiltins(candidate);
                    Nvrtc opened = new Nvrtc(SymbolLookup.libraryLookup(candidate, Arena.global()), candidate);
                    OPEN.put(candidate, opened);
                    return opened;
                } catch (IllegalArgumentException notThere) {
                    // The next candidate may be; the message below lists all of them.
                    continue;
                }
            }
        }
        throw new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                "no CUDA compiler (NVRTC) was found; tried " + String.join(", ", candidates) + " and the folders "
                        + finder.folders()
                        + ". Install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or set cuda.nvrtc to the"
                        + " library or its folder.");
    }

    /// NVRTC opens a second library by its bare name, which the loader finds outside its path only
    /// if it is open already.
    private static void openBuiltins(String candidate) {
        Path folder = Path.of(candidate).getParent();
        if (folder != null) {
            for (Path library : NvrtcFinder.list(folder, "libnvrtc-builtins.so.[0-9]*")) {
                SymbolLookup.libraryLookup(library, Arena.global());
            }
        }
    }

    /// {@return where it was found}
    public String path() {
        return path;
    }

    /// {@return its version, such as `13.0`}
    public String version() {
        return version;
    }

    private static RuntimeException rethrow(Throwable t) {
        if (t instanceof RuntimeException e) {
            throw e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        throw new IllegalStateException(t);
    }

    private MethodHandle bind(String name, MemoryLayout... arguments) {
        MemorySegment function = library.find(name)
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE, path + " has no " + name + "; it is no NVRTC of CUDA 11 to 13"));
        return Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private void check(int result, String what) {
        if (result != 0) {
            throw new BackendException(ErrorCode.BACKEND_FAILED, what + " failed: " + name(result), result, null);
        }
    }

    private String name(int result) {
        try {
            MemorySegment text = (MemorySegment) errorString.invokeExact(result);
            return text.reinterpret(Long.MAX_VALUE).getString(0);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    /// Compiles a source to machine code.
    ///
    /// @param source the source with its headers
    /// @param options options, such as `--gpu-architecture=sm_90a`; with `sm_` the result is a
    ///     cubin
    /// @return the cubin
    /// @throws BackendException (`BACKEND-003`) with the compiler's log
    public byte[] compile(CudaSource source, List<String> options) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(ADDRESS);
            List<String> names = new ArrayList<>(source.headers().keySet());
            MemorySegment texts =
                    strings(arena, names.stream().map(source.headers()::get).toList());
            check(
                    (int) create.invokeExact(
                            handle,
                            arena.allocateFrom(source.text()),
                            arena.allocateFrom(source.name()),
                            names.size(),
                            texts,
                            strings(arena, names)),
                    "nvrtcCreateProgram of " + source.name());
            MemorySegment program = handle.get(ADDRESS, 0);
            try {
                int result = (int) compile.invokeExact(program, options.size(), strings(arena, options));
                if (result != 0) {
                    String log = new String(
                                    get(arena, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"),
                                    StandardCharsets.UTF_8)
                            .strip();
                    throw new BackendException(
                            ErrorCode.BACKEND_FAILED,
                            path + " " + version + " did not compile " + source.name() + " with "
                                    + String.join(" ", options) + ": " + name(result) + "\n" + log,
                            result,
                            null);
                }
                return get(arena, program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN");
            } finally {
                check((int) destroy.invokeExact(handle), "nvrtcDestroyProgram");
            }
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    private byte[] get(Arena arena, MemorySegment program, String sizeCall, String call) throws Throwable {
        MemorySegment size = arena.allocate(JAVA_LONG);
        check((int) bind(sizeCall, ADDRESS, ADDRESS).invokeExact(program, size), sizeCall);
        MemorySegment bytes = arena.allocate(Math.max(1, size.get(JAVA_LONG, 0)));
        check((int) bind(call, ADDRESS, ADDRESS).invokeExact(program, bytes), call);
        return bytes.asSlice(0, size.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
    }

    private static MemorySegment strings(Arena arena, List<String> strings) {
        MemorySegment array = arena.allocate(ADDRESS, Math.max(1, strings.size()));
        for (int i = 0; i < strings.size(); i++) {
            array.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(strings.get(i)));
        }
        return array;
    }
}
