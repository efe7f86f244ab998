package dev.tenon.backend.cuda.device;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.cuda.ffm.DriverLibrary;
import dev.tenon.kernels.nvidia.DeviceTraits;
import dev.tenon.kernels.nvidia.compile.CachedCompiler;
import dev.tenon.kernels.nvidia.compile.CodeCache;
import dev.tenon.kernels.nvidia.compile.Nvrtc;
import dev.tenon.kernels.nvidia.compile.NvrtcFinder;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gets the machine code of kernel modules and loads it into a device's context: compiled by NVRTC
/// and kept on disk, or, where there is no NVRTC, from the PTX in the kernels' bundle, which the
/// driver compiles. Safe for any thread.
///
/// Settings: `cuda.nvrtc`, the library or its folder; `cuda.cache`, the folder of compiled kernels;
/// `cuda.kernels`: `auto`, `compile` (never take prebuilt ones) or `prebuilt` (never compile).
public final class KernelLoader implements AutoCloseable {
    /// Setting: the NVRTC library or its folder.
    static final String NVRTC = "cuda.nvrtc";
    /// Setting: the folder of compiled kernels.
    static final String CACHE = "cuda.cache";
    /// Setting: where kernels come from.
    public static final String KERNELS = "cuda.kernels";

    private static final Logger LOG = LoggerFactory.getLogger(KernelLoader.class);
    private static final int FUNCTION_SHARED_BYTES = 8;
    private static final int FUNCTION_SHARED_CARVEOUT = 9;
    private static final int LARGEST = 100;
    /// Sources of the kernels for many rows, which leave the split of the first-level cache to the driver.
    private static final Set<String> MANY_ROWS =
            Set.of("matmul.cu", "expert_matmul.cu", "float_matmul.cu", "attention_prefill.cu", "rows.cu");

    private static final int MOST_COMPILERS = 16;

    private final CudaContext context;
    private final DeviceTraits traits;
    private final String nvrtcSetting;
    private final String mode;
    private final CodeCache cache;
    private final Map<String, Long> modules = new HashMap<>();
    private final Map<String, Function> functions = new HashMap<>();
    private final Map<String, FutureTask<byte[]>> compiling = new ConcurrentHashMap<>();
    private final Semaphore compilers =
            new Semaphore(Math.min(MOST_COMPILERS, Runtime.getRuntime().availableProcessors()));
    private Nvrtc opened;
    private String missing;

    /// A loaded kernel.
    private static final class Function {
        final long handle;
        int sharedBytes;

        Function(long handle) {
            this.handle = handle;
        }
    }

    /// @param context the device's
    /// @param traits the device
    /// @param settings see above
    /// @throws IllegalArgumentException if a setting is not understood
    public KernelLoader(CudaContext context, DeviceTraits traits, Map<String, String> settings) {
        this.context = context;
        this.traits = traits;
        this.nvrtcSetting = settings.getOrDefault(NVRTC, "");
        this.mode = settings.getOrDefault(KERNELS, "auto");
        if (!List.of("auto", "compile", "prebuilt").contains(mode)) {
            throw new IllegalArgumentException(KERNELS + " is '" + mode + "'; expected auto, compile or prebuilt");
        }
        String folder = settings.getOrDefault(CACHE, "");
        this.cache = new CodeCache(folder.isEmpty() ? CodeCache.defaultFolder(System.getenv()) : Path.of(folder));
    }

    /// Loads modules that are not loaded yet; compiles several at once, and waits for those that another
    /// thread compiles.
    ///
    /// @param wanted the modules
    /// @param headers headers of third parties, by name
    /// @throws BackendException if one cannot be had
    public void load(List<KernelModule> wanted, Map<String, String> headers) {
        long begin = System.nanoTime();
        Map<String, FutureTask<byte[]>> codes = new LinkedHashMap<>();
        synchronized (this) {
            Optional<Nvrtc> nvrtc = nvrtc();
            for (KernelModule module : wanted) {
                String key = key(module, headers);
                if (!modules.containsKey(key)) {
                    codes.put(key, compiling.computeIfAbsent(key, k -> compile(module, headers, nvrtc)));
                }
            }
        }
        if (codes.isEmpty()) {
            return;
        }
        try {
            for (Map.Entry<String, FutureTask<byte[]>> code : codes.entrySet()) {
                loadModule(code.getKey(), code.getValue().get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendException(ErrorCode.BACKEND_FAILED, "interrupted while kernels were being compiled", 0, e);
        } catch (ExecutionException e) {
            throw DriverLibrary.rethrow(e.getCause());
        } finally {
            // One that failed is tried again by the next who asks.
            codes.forEach(compiling::remove);
        }
        LOG.info("{} kernel modules loaded in {} ms", codes.size(), (System.nanoTime() - begin) / 1_000_000);
    }

    /// Begins to make the code of a module, on a thread of its own.
    private FutureTask<byte[]> compile(KernelModule module, Map<String, String> headers, Optional<Nvrtc> nvrtc) {
        FutureTask<byte[]> task = new FutureTask<>(() -> {
            compilers.acquire();
            try {
                return code(module, headers, nvrtc);
            } finally {
                compilers.release();
            }
        });
        Thread.ofPlatform().name("tenon-cuda-compile").daemon().start(task);
        return task;
    }

    private synchronized void loadModule(String key, byte[] code) {
        if (!modules.containsKey(key)) {
            context.enter();
            modules.put(key, context.binding().loadModule(key, code));
        }
    }

    private static String key(KernelModule module, Map<String, String> headers) {
        return module.macros().containsKey("TENON_FORMAT_FILE")
                ? module.name() + "." + Integer.toHexString(headers.hashCode())
                : module.name();
    }

    /// {@return NVRTC, or empty where it is missing or not wanted}
    private synchronized Optional<Nvrtc> nvrtc() {
        if (opened == null && missing == null) {
            if (mode.equals("prebuilt")) {
                missing = KERNELS + " is prebuilt";
            } else {
                try {
                    opened = Nvrtc.open(NvrtcFinder.ofThisMachine(), nvrtcSetting);
                    LOG.info("kernels are compiled with {} {}", opened.path(), opened.version());
                } catch (BackendException e) {
                    missing = e.getMessage();
                    LOG.info("prebuilt kernels are used: {}", missing);
                }
            }
        }
        return Optional.ofNullable(opened);
    }

    /// {@return whether kernels can be compiled, not only taken as they are in the bundle}
    public boolean canCompile() {
        return nvrtc().isPresent();
    }

    private byte[] code(KernelModule module, Map<String, String> headers, Optional<Nvrtc> nvrtc) {
        if (nvrtc.isPresent()) {
            return new CachedCompiler(nvrtc.get(), cache).compile(module, headers, traits.architecture());
        }
        Optional<byte[]> prebuilt = mode.equals("compile") ? Optional.empty() : KernelCatalogue.prebuilt(module);
        return prebuilt.orElseThrow(() -> new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                "there is no prebuilt code of kernel module " + module.name() + ", and it cannot be compiled: "
                        + missing));
    }

    /// {@return the handle of a kernel of a loaded module, ready for a launch}
    ///
    /// @param module the module
    /// @param headers as it was loaded with
    /// @param entry name of the kernel
    /// @param sharedBytes dynamic shared memory that it is launched with
    public synchronized long function(KernelModule module, Map<String, String> headers, String entry, int sharedBytes) {
        String key = key(module, headers);
        Function function = functions.computeIfAbsent(key + "/" + entry, k -> {
            Long handle = modules.get(key);
            if (handle == null) {
                throw new IllegalStateException("kernel module " + key + " is not loaded");
            }
            try {
                Function made = new Function(context.binding().function(handle, entry));
                made.sharedBytes = -1;
                if (!MANY_ROWS.contains(module.file())) {
                    // Kernels of one split can be on a multiprocessor at the same time; to change it, it must be empty.
                    context.binding().setFunctionAttribute(made.handle, FUNCTION_SHARED_CARVEOUT, LARGEST);
                }
                return made;
            } catch (BackendException e) {
                throw new BackendException(
                        ErrorCode.BACKEND_FAILED,
                        "kernel module " + key + " has no kernel " + entry + ": " + e.getMessage(),
                        e.nativeCode(),
                        e);
            }
        });
        if (function.sharedBytes < sharedBytes) {
            // Also makes the driver load the function now, which it could not do while a graph is captured.
            context.binding().setFunctionAttribute(function.handle, FUNCTION_SHARED_BYTES, sharedBytes);
            function.sharedBytes = sharedBytes;
        }
        return function.handle;
    }

    @Override
    public synchronized void close() {
        if (!modules.isEmpty()) {
            context.enter();
            List<Long> loaded = new ArrayList<>(modules.values());
            modules.clear();
            functions.clear();
            Closing.all(loaded.stream()
                    .map(module -> (AutoCloseable) () -> context.binding().unloadModule(module))
                    .toList());
        }
    }
}
