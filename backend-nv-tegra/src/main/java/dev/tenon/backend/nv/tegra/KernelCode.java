package dev.tenon.backend.nv.tegra;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.backend.nv.tegra.gpu.Cubin;
import dev.tenon.backend.nv.tegra.gpu.GpuDevice;
import dev.tenon.backend.nv.tegra.gpu.LoadedKernel;
import dev.tenon.backend.nv.tegra.gpu.LoadedModule;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.KernelCatalogue;
import dev.tenon.kernels.nvidia.KernelModule;
import dev.tenon.kernels.nvidia.Launch;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The machine code of a device: found, loaded when it is first needed, kept until the device
/// closes. Safe for any thread.
///
/// Cubins come from the folder of a setting, then from the bundle of kernels; an emulated board has
/// stand-ins for the rest.
final class KernelCode implements AutoCloseable {
    /// Setting: a folder of cubins that `kernels-nvidia/cubins.sh` has made.
    static final String FOLDER = "nv-tegra.kernel-folder";
    /// Setting: `auto`, `cubins` (no stand-ins) or `stand-ins` (nothing else).
    static final String KERNELS = "nv-tegra.kernels";

    private static final Logger LOG = LoggerFactory.getLogger(KernelCode.class);

    private final Board board;
    private final GpuDevice device;
    private final String folder;
    private final String mode;
    private final Map<String, LoadedModule> modules = new HashMap<>();
    private final Map<String, Optional<byte[]>> found = new HashMap<>();

    /// @param board knows whether there are stand-ins
    /// @param device where code is loaded
    /// @param settings see above
    /// @throws IllegalArgumentException if a setting is not understood
    KernelCode(Board board, GpuDevice device, Map<String, String> settings) {
        this.board = board;
        this.device = device;
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
                .filter(module ->
                        cubin(module).isEmpty() && standIn("any", List.of(8)).isEmpty())
                .toList();
    }

    /// {@return the refusal of a model whose kernels cannot be had}
    ///
    /// @param missing modules
    static BackendException refusal(List<KernelModule> missing) {
        return new BackendException(
                ErrorCode.BACKEND_UNAVAILABLE,
                "there is no machine code for sm_87 of the kernel modules "
                        + missing.stream()
                                .map(KernelModule::name)
                                .distinct()
                                .sorted()
                                .collect(Collectors.joining(", "))
                        + ". Make it where nvcc is installed (kernels-nvidia/cubins.sh FOLDER), and set " + FOLDER
                        + " to that folder.");
    }

    /// {@return the kernel of a launch, loaded}
    ///
    /// @param launch the launch
    synchronized LoadedKernel kernel(Launch launch) {
        KernelModule module = launch.module();
        Optional<byte[]> cubin = cubin(module);
        if (cubin.isPresent()) {
            return modules.computeIfAbsent(module.name(), name -> load(cubin.get(), name))
                    .kernel(launch.entry());
        }
        // A stand-in holds one kernel: which others there are is not known.
        return modules.computeIfAbsent(
                        module.name() + "/" + launch.entry(),
                        name -> load(
                                standIn(launch.entry(), sizes(launch.arguments()))
                                        .orElseThrow(() -> new IllegalStateException(
                                                "no machine code of " + name + "; it was not asked for before")),
                                name))
                .kernel(launch.entry());
    }

    private LoadedModule load(byte[] cubin, String name) {
        Cubin parsed = new Cubin(cubin, name);
        board.loads(cubin);
        LoadedModule loaded = device.load(parsed);
        LOG.debug("kernel module {} loaded, {} bytes", name, cubin.length);
        return loaded;
    }

    private Optional<byte[]> standIn(String entry, List<Integer> parameterBytes) {
        return mode.equals("cubins") ? Optional.empty() : board.standIn(entry, parameterBytes);
    }

    private static List<Integer> sizes(List<Argument> arguments) {
        return arguments.stream()
                .map(argument -> switch (argument) {
                    case Argument.Address _, Argument.Long _ -> 8;
                    case Argument.Int _, Argument.Float _ -> 4;
                })
                .toList();
    }

    private Optional<byte[]> cubin(KernelModule module) {
        if (mode.equals("stand-ins")) {
            return Optional.empty();
        }
        return found.computeIfAbsent(module.name(), name -> {
            if (!folder.isEmpty()) {
                Path file = Path.of(folder, KernelCatalogue.cubinFile(module));
                if (Files.exists(file)) {
                    return Optional.of(unpacked(file));
                }
            }
            return KernelCatalogue.cubin(module);
        });
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
