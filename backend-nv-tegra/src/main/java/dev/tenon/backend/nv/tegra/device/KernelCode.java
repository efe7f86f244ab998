package dev.tenon.backend.nv.tegra.device;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.code.Cubin;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.backend.nv.tegra.gpu.LoadedModule;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.compile.CachedCompiler;
import dev.tenon.kernels.nvidia.compile.CodeCache;
import dev.tenon.kernels.nvidia.compile.Nvrtc;
import dev.tenon.kernels.nvidia.compile.NvrtcFinder;
import dev.tenon.kernels.nvidia.compile.PrebuiltCompiler;
import dev.tenon.kernels.nvidia.compile.PtxCompiler;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The machine code of a device: found, loaded when it is first needed, kept until the device
/// closes. Safe for any thread.
///
/// Cubins come from the folder of a setting, then from the bundle of kernels. An emulated board has stand-ins for the
/// rest; elsewhere NVRTC compiles it, if it is there, or another bundle's compiler of PTX.
final class KernelCode implements AutoCloseable {
    /// Setting: a folder of cubins that `kernels/nvidia/cubins.sh` has made.
    static final String FOLDER = "nv-tegra.kernel-folder";
    /// Setting: `auto`, `cubins` (no stand-ins) or `stand-ins` (nothing else).
    static final String KERNELS = "nv-tegra.kernels";
    /// Setting: the NVRTC library or its folder.
    static final String NVRTC = "cuda.nvrtc";
    /// Setting: the folder of what NVRTC has compiled.
    static final String CACHE = "cuda.cache";

    private static final Logger LOG = LoggerFactory.getLogger(KernelCode.class);
    /// What the bundle of kernels has machine code for.
    private static final String BUNDLED = "sm_87";
    private static final int MOST_COMPILERS = 8;

    private final Board board;
    private final GpuDevice device;
    private final String architecture;
    private final Map<String, String> settings;
    private final String folder;
    private final String mode;
    private final Map<String, LoadedModule> modules = new HashMap<>();
    private final Map<String, byte[]> cubins = new HashMap<>();
    private final Optional<PrebuiltCompiler> ptxCompiler;
    private CachedCompiler compiler;
    private String noCompiler = "";

    /// @param board knows whether there are stand-ins
    /// @param device where code is loaded
    /// @param architecture what for, such as `sm_87`
    /// @param settings see above
    /// @param ptxCompiler compiles PTX where there is no NVRTC
    /// @throws IllegalArgumentException if a setting is not understood
    KernelCode(
            Board board,
            GpuDevice device,
            String architecture,
            Map<String, String> settings,
            Optional<PtxCompiler> ptxCompiler) {
        this.board = board;
        this.device = device;
        this.architecture = architecture;
        this.settings = settings;
        this.ptxCompiler = ptxCompiler.map(ptx -> new PrebuiltCompiler(ptx, cache(settings)));
        this.folder = settings.getOrDefault(FOLDER, "");
        this.mode = settings.getOrDefault(KERNELS, "auto");
        if (!List.of("auto", "cubins", "stand-ins").contains(mode)) {
            throw new IllegalArgumentException(KERNELS + " is '" + mode + "'; expected auto, cubins or stand-ins");
        }
        if (!folder.isEmpty() && !Files.isDirectory(Path.of(folder))) {
            throw new IllegalArgumentException(FOLDER + " is '" + folder + "', which is no folder");
        }
    }

    /// {@return the modules that cannot be had}
    ///
    /// @param wanted modules that may be launched
    synchronized List<KernelModule> missing(List<KernelModule> wanted) {
        return wanted.stream()
                .filter(module -> !standsIn(module) && made(module).isEmpty() && !canCompile() && !hasPtx(module))
                .toList();
    }

    /// {@return the refusal of a model whose kernels cannot be had}
    ///
    /// @param missing modules
    synchronized BackendException refusal(List<KernelModule> missing) {
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                "there is no machine code for " + architecture + " of the kernel modules "
                        + missing.stream()
                                .map(KernelModule::name)
                                .distinct()
                                .sorted()
                                .collect(Collectors.joining(", "))
                        + (architecture.equals(BUNDLED)
                                ? ". Make it where nvcc is installed (kernels/nvidia/cubins.sh FOLDER), and set "
                                        + FOLDER + " to that folder; or install NVRTC here: "
                                : ". Install NVRTC here: ")
                        + noCompiler);
    }

    /// Compiles what has to be compiled, several modules at once, so that the first step need not wait.
    ///
    /// @param wanted modules that will be launched; none of them is missing
    void prepare(List<KernelModule> wanted) {
        Map<String, KernelModule> uncompiled = new LinkedHashMap<>();
        synchronized (this) {
            for (KernelModule module : wanted) {
                if (!standsIn(module) && made(module).isEmpty()) {
                    uncompiled.put(module.name(), module);
                }
            }
            uncompiled.values().removeIf(module -> !canCompile() && !hasPtx(module));
            if (uncompiled.isEmpty()) {
                return;
            }
        }
        long begin = System.nanoTime();
        int threads = Math.min(
                Math.min(MOST_COMPILERS, uncompiled.size()),
                Runtime.getRuntime().availableProcessors());
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            Map<String, Future<byte[]>> results = new LinkedHashMap<>();
            uncompiled.forEach((name, module) -> results.put(name, executor.submit(() -> compiled(module))));
            for (Map.Entry<String, Future<byte[]>> result : results.entrySet()) {
                byte[] code = result.getValue().get();
                synchronized (this) {
                    cubins.put(result.getKey(), code);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendException(ErrorCode.BACKEND_FAILED, "interrupted while kernels were being compiled", 0, e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof BackendException known
                    ? known
                    : new BackendException(ErrorCode.BACKEND_FAILED, "kernels cannot be compiled: " + e, 0, e);
        }
        LOG.info("{} kernel modules ready in {} ms", uncompiled.size(), (System.nanoTime() - begin) / 1_000_000);
    }

    private byte[] compiled(KernelModule module) {
        return compiler != null
                ? compiler.compile(module, Map.of(), architecture)
                : ptxCompiler.orElseThrow().compile(module, architecture).orElseThrow();
    }

    /// Whether a module's PTX can be compiled.
    private boolean hasPtx(KernelModule module) {
        return ptxCompiler.isPresent() && PrebuiltCompiler.has(module);
    }

    private static CodeCache cache(Map<String, String> settings) {
        String folder = settings.getOrDefault(CACHE, "");
        return new CodeCache(folder.isEmpty() ? CodeCache.defaultFolder(System.getenv()) : Path.of(folder));
    }

    /// Whether NVRTC is there; looked for once.
    private boolean canCompile() {
        if (compiler == null && noCompiler.isEmpty()) {
            try {
                Nvrtc nvrtc = Nvrtc.open(NvrtcFinder.ofThisMachine(), settings.getOrDefault(NVRTC, ""));
                compiler = new CachedCompiler(nvrtc, cache(settings));
                LOG.info("kernels are compiled with {} {}", nvrtc.path(), nvrtc.version());
            } catch (BackendException e) {
                noCompiler = e.getMessage();
                LOG.debug("kernels cannot be compiled: {}", noCompiler);
            }
        }
        return compiler != null;
    }

    /// {@return the kernel of a launch, loaded}
    ///
    /// @param launch the launch
    synchronized LoadedKernel kernel(Launch launch) {
        KernelModule module = launch.module();
        if (!standsIn(module)) {
            return modules.computeIfAbsent(
                            module.name(), name -> load(made(module).orElseGet(() -> compiled(module)), name))
                    .kernel(launch.entry());
        }
        // A stand-in holds one kernel: which others there are is not known.
        return modules.computeIfAbsent(
                        module.name() + "/" + launch.entry(),
                        name -> load(
                                board.standIn(launch.entry(), sizes(launch.arguments()))
                                        .orElseThrow(),
                                name))
                .kernel(launch.entry());
    }

    /// Whether a stand-in is taken instead of machine code.
    private boolean standsIn(KernelModule module) {
        boolean wanted =
                mode.equals("stand-ins") || mode.equals("auto") && made(module).isEmpty();
        return wanted && board.standIn("any", List.of(8)).isPresent();
    }

    private LoadedModule load(byte[] cubin, String name) {
        Cubin parsed = new Cubin(cubin, name);
        board.loads(cubin);
        LoadedModule loaded = device.load(parsed);
        LOG.trace("kernel module {} loaded, {} bytes", name, cubin.length);
        return loaded;
    }

    private static List<Integer> sizes(List<Argument> arguments) {
        return arguments.stream()
                .map(argument -> switch (argument) {
                    case Argument.Address _, Argument.Long _ -> 8;
                    case Argument.Int _, Argument.Float _ -> 4;
                })
                .toList();
    }

    /// Machine code that somebody has made before.
    private Optional<byte[]> made(KernelModule module) {
        byte[] known = cubins.get(module.name());
        if (known == null) {
            known = lookedUp(module).orElse(null);
            if (known != null) {
                cubins.put(module.name(), known);
            }
        }
        return Optional.ofNullable(known);
    }

    private Optional<byte[]> lookedUp(KernelModule module) {
        if (!architecture.equals(BUNDLED)) {
            return Optional.empty();
        }
        Path file = Path.of(folder, KernelCatalogue.cubinFile(module));
        return !folder.isEmpty() && Files.exists(file) ? Optional.of(unpacked(file)) : KernelCatalogue.cubin(module);
    }

    private static byte[] unpacked(Path file) {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new BackendException(
                    ErrorCode.BACKEND_FAILED, "kernels cannot be read from " + file + ": " + e.getMessage(), 0, e);
        }
    }

    @Override
    public synchronized void close() {
        modules.values().forEach(LoadedModule::close);
        modules.clear();
    }
}
