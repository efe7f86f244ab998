package dev.tenon.backend.nv.tegra.emulator;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.nv.tegra.NvTegraBackend;
import dev.tenon.backend.nv.tegra.sys.LinuxSyscalls;
import dev.tenon.itest.testkit.BackendContract;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;

/// The contract of all backends on the emulated Orin, with stand-ins for machine code. Oracle: the
/// contract's float64 reference.
///
/// Long: every emulated instruction takes a thousand real ones.
@Tag("long")
class EmulatedOrinContractTest extends BackendContract {
    private static final Set<String> TESTED = Set.of("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q4_K", "MXFP4");

    @Override
    protected Backend backend() {
        return new NvTegraBackend(LinuxSyscalls::new, List.of(new EmulatedOrinProvider()), List.of());
    }

    @Override
    protected Collection<QuantFormat> formats() {
        TreeMap<String, QuantFormat> formats = new TreeMap<>();
        ServiceLoader.load(QuantFormat.class).forEach(f -> formats.put(f.id(), f));
        formats.keySet().retainAll(TESTED);
        return formats.values();
    }

    @Override
    protected DeviceOptions deviceOptions() {
        return DeviceOptions.builder()
                .deviceId("emulated")
                .settings(Map.of("nv-tegra.kernels", "stand-ins"))
                .build();
    }

    @Override
    protected boolean mustBeAvailable() {
        return true;
    }

    @Override
    protected int openCloseRounds() {
        return 50;
    }

    @Override
    protected double tolerance(String what, int n) {
        return 4e-5 * Math.sqrt(n);
    }

    /// Steps of many rows round activations to float16.
    @Override
    protected double tolerance(String what, QuantFormat format, int n) {
        boolean model = what.startsWith("model");
        return format.id().equals("F32") ? tolerance(what, n) : model ? 2e-2 : 5e-3;
    }
}
