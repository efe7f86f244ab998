package dev.tenon.backend.nv.tegra;

import aQute.bnd.annotation.Cardinality;
import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceConsumer;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.config.Knob;
import dev.tenon.api.config.Setting;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.device.NvDevice;
import dev.tenon.backend.nv.tegra.gpu.GpuTraits;
import dev.tenon.backend.nv.tegra.sys.Board;
import dev.tenon.backend.nv.tegra.sys.BoardProvider;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import dev.tenon.kernels.nvidia.compile.PtxCompiler;
import dev.tenon.kernels.nvidia.plan.PlanSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferencePolicyOption;

/// The backend of Jetson Orins: the board that this machine is, and those that other bundles offer,
/// such as an emulated one.
@Component(service = Backend.class, property = "backend.id=nv-tegra")
@ServiceProvider(value = Backend.class, resolution = Resolution.OPTIONAL)
@ServiceConsumer(
        value = BoardProvider.class,
        cardinality = Cardinality.MULTIPLE,
        resolution = Resolution.OPTIONAL,
        effective = "active")
@ServiceConsumer(
        value = PtxCompiler.class,
        cardinality = Cardinality.MULTIPLE,
        resolution = Resolution.OPTIONAL,
        effective = "active")
public final class NvTegraBackend implements Backend {
    /// The backend's id.
    static final String ID = "nv-tegra";

    private static final String OWN = "0";
    /// Shared memory that a block can be given: 100 KiB are known to work, of which the hardware keeps
    /// 1 KiB and kernels up to 4 KiB of their own.
    private static final int SHARED_BYTES = 95 * 1024;

    private static final String ARCHITECTURE = "architecture";

    private final Supplier<Syscalls> calls;
    private final List<BoardProvider> others;
    private final List<PtxCompiler> compilers;

    /// Creates the backend for this machine and the boards that bundles on the class or module path
    /// offer; nothing is looked for yet.
    public NvTegraBackend() {
        this(LinuxSyscalls::new, services(BoardProvider.class), services(PtxCompiler.class));
    }

    private static <S> List<S> services(Class<S> type) {
        return ServiceLoader.load(type, NvTegraBackend.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    /// Creates the backend in a framework, which makes it again when a board comes or goes, so that
    /// models move.
    ///
    /// @param others boards that other bundles offer
    /// @param compilers compilers of PTX that other bundles offer
    @Activate
    public NvTegraBackend(
            @Reference(service = BoardProvider.class, policyOption = ReferencePolicyOption.GREEDY)
                    List<BoardProvider> others,
            @Reference(service = PtxCompiler.class, policyOption = ReferencePolicyOption.GREEDY)
                    List<PtxCompiler> compilers) {
        this(LinuxSyscalls::new, others, compilers);
    }

    /// @param calls how to reach the drivers of this machine
    /// @param others boards that other bundles offer
    /// @param compilers compilers of PTX that other bundles offer
    public NvTegraBackend(Supplier<Syscalls> calls, List<BoardProvider> others, List<PtxCompiler> compilers) {
        this.calls = calls;
        this.others = List.copyOf(others);
        this.compilers = List.copyOf(compilers);
    }

    @Override
    public String id() {
        return ID;
    }

    @Override
    public List<Setting> settings() {
        return Stream.concat(TegraSettings.ALL.stream(), others.stream().flatMap(other -> other.settings().stream()))
                .toList();
    }

    @Override
    public List<Knob> knobs() {
        return PlanSettings.KNOBS;
    }

    /// Whoever wants it names it, because it has never run on a board, and because an emulated one is
    /// slow.
    @Override
    public int rank() {
        return -1;
    }

    @Override
    public Probe probe() {
        List<String> found = new ArrayList<>();
        List<Issue> issues = new ArrayList<>();
        boolean own = false;
        try {
            GpuTraits traits = TegraGpu.describe(calls.get());
            found.add(name(traits));
            own = true;
        } catch (BackendException e) {
            boolean board = Files.exists(Path.of(TegraGpu.NVMAP));
            if (board) {
                issues.add(new Issue(
                        Issue.Severity.WARNING, ErrorCode.BACKEND_UNAVAILABLE, "this board: " + e.getMessage(), ID));
            }
            if (board || others.isEmpty()) {
                found.add(e.getMessage());
            }
        }
        others.forEach(other -> found.add("Device '" + other.id() + "': " + other.description()));
        return new Probe(own || !others.isEmpty(), String.join(" ", found), issues);
    }

    private static String name(GpuTraits traits) {
        return traits.name() + ", sm_" + traits.sm() + ", " + traits.multiprocessors() + " multiprocessors.";
    }

    @Override
    public List<DeviceInfo> devices() {
        List<DeviceInfo> devices = new ArrayList<>();
        try {
            GpuTraits traits = TegraGpu.describe(calls.get());
            Map<String, String> details = new LinkedHashMap<>();
            details.put(ARCHITECTURE, "sm_" + traits.sm());
            details.put("multiprocessors", Integer.toString(traits.multiprocessors()));
            devices.add(new DeviceInfo(OWN, traits.name(), ID, 0, details));
        } catch (BackendException notThere) {
            // The probe says why; boards of other bundles are there all the same.
            return others();
        }
        devices.addAll(others());
        return devices;
    }

    private List<DeviceInfo> others() {
        return others.stream().map(NvTegraBackend::info).toList();
    }

    private static DeviceInfo info(BoardProvider other) {
        return new DeviceInfo(other.id(), other.description(), ID, 0, Map.of(ARCHITECTURE, "sm_87"));
    }

    @Override
    public Device open(DeviceOptions options) {
        List<DeviceInfo> devices = devices();
        if (devices.isEmpty()) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE, "Backend " + ID + " is not available: " + probe().reason());
        }
        DeviceInfo wanted = devices.stream()
                .filter(d -> options.deviceId().isEmpty() || options.deviceId().equals(d.id()))
                .findFirst()
                .orElseThrow(() -> new BackendException(
                        ErrorCode.BACKEND_UNAVAILABLE,
                        "Backend " + ID + " has no device '" + options.deviceId() + "'; it has "
                                + devices.stream().map(DeviceInfo::id).collect(Collectors.joining(", "))));
        Board board = board(wanted.id(), options.settings());
        return new NvDevice(
                wanted,
                board,
                options.settings(),
                compilers.stream().findFirst(),
                () -> TegraGpu.open(board.calls(), TegraOptions.of(options.settings())),
                SHARED_BYTES);
    }

    private Board board(String id, Map<String, String> settings) {
        if (id.equals(OWN)) {
            return Board.of(calls.get());
        }
        BoardProvider provider =
                others.stream().filter(o -> o.id().equals(id)).findFirst().orElseThrow();
        try {
            return provider.open(settings);
        } catch (IllegalArgumentException e) {
            throw new TenonException(ErrorCode.CONFIG, e.getMessage(), e);
        }
    }
}
