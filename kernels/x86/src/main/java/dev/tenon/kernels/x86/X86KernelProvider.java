package dev.tenon.kernels.x86;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.config.Setting;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.x86.attention.AttentionShape;
import dev.tenon.kernels.x86.attention.MachineAttention;
import dev.tenon.kernels.x86.cpu.CpuFeatures;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.cpu.Settings;
import dev.tenon.kernels.x86.element.MachineElements;
import dev.tenon.kernels.x86.linear.F16Linear;
import dev.tenon.kernels.x86.linear.MachineLinear;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Kernels in machine code for the widest feature set that this x86-64 processor has; none
/// elsewhere. Those of weight formats are made of layouts, anybody's.
///
/// The setting `tenon.kernels.x86` (system property, or `TENON_KERNELS_X86` in the environment) is
/// `auto`, `off`, or a set to use: `avx2`, `avxvnni`, `avx512`,
/// `avx512vbmi`. `tenon.kernels.x86.attention` (or
/// `TENON_KERNELS_X86_ATTENTION`) is `off` to leave attention to the backend,
/// `tenon.kernels.x86.elements` (or `TENON_KERNELS_X86_ELEMENTS`) to leave norms and activations to
/// it. `tenon.kernels.x86.prefetch` is described at `Prefetch`. Stopping the bundle frees the code
/// after running calls have returned; kernels that are still in use then throw
/// [dev.tenon.api.error.BackendException] with [dev.tenon.api.error.ErrorCode#CLOSED].
@Component(service = KernelProvider.class, property = "kernels.id=x86")
@ServiceProvider(value = KernelProvider.class, resolution = Resolution.OPTIONAL)
public final class X86KernelProvider implements KernelProvider, AutoCloseable {
    /// The name of the setting.
    static final String SETTING = Settings.PREFIX;

    /// The name of the setting that leaves attention to others.
    static final String ATTENTION = SETTING + ".attention";

    /// The name of the setting that leaves norms and activations to others.
    static final String ELEMENTS = SETTING + ".elements";

    private static final Logger LOG = LoggerFactory.getLogger(X86KernelProvider.class);

    private final String setting;
    private final boolean attention;
    private final boolean elements;
    private List<Kernel> kernels;
    /// The kernels of formats; null where there are none.
    private Formats formats;
    private String state = "not asked yet";

    /// Creates the provider; nothing is looked for yet.
    public X86KernelProvider() {
        this(
                Settings.of(SETTING, "auto"),
                !"off".equals(Settings.of(ATTENTION, "on")),
                !"off".equals(Settings.of(ELEMENTS, "on")));
    }

    /// Creates the provider with given settings.
    ///
    /// @param setting `auto`, `off` or the id of a feature set
    /// @param attention whether to serve attention
    /// @param elements whether to serve norms and activations
    X86KernelProvider(String setting, boolean attention, boolean elements) {
        this.attention = attention;
        this.elements = elements;
        this.setting = setting.strip().toLowerCase(Locale.ROOT);
    }

    @Override
    public List<Setting> settings() {
        return X86Settings.ALL;
    }

    @Override
    public synchronized List<Kernel> kernels() {
        if (kernels == null) {
            kernels = find();
            LOG.info("{}", this);
        }
        return kernels;
    }

    @Override
    public synchronized List<Kernel> kernels(QuantFormat format) {
        List<Kernel> all = new ArrayList<>(KernelProvider.super.kernels(format));
        if (formats != null) {
            all.addAll(formats.kernels(format));
        }
        return all;
    }

    private List<Kernel> find() {
        if (setting.equals("off")) {
            state = "switched off by " + SETTING;
            return List.of();
        }
        FeatureSet wanted = wanted();
        CpuFeatures cpu;
        try {
            cpu = CpuFeatures.detect();
        } catch (TenonException e) {
            state = e.getMessage();
            return List.of();
        }
        FeatureSet set = cpu.sets().stream()
                .filter(s -> wanted == null || s == wanted)
                .reduce((narrow, wide) -> wide)
                .orElse(null);
        if (set == null) {
            state = cpu.name() + " lacks " + (wanted == null ? FeatureSet.AVX2.id : wanted.id);
            return List.of();
        }
        state = cpu.name() + ", " + set.id;
        formats = new Formats(set);
        Stream<MachineLinear> linear = Stream.of(new F16Linear(false, set), new F16Linear(true, set));
        Stream<Kernel> others = Stream.concat(
                attention ? attention(set) : Stream.empty(),
                elements ? Stream.of(new MachineElements(set)) : Stream.empty());
        return Stream.concat(linear, others).toList();
    }

    private static Stream<Kernel> attention(FeatureSet set) {
        return Stream.of(AttentionShape.Type.values()).map(type -> new MachineAttention(type, set));
    }

    private FeatureSet wanted() {
        FeatureSet wanted = Stream.of(FeatureSet.values())
                .filter(s -> s.id.equals(setting))
                .findFirst()
                .orElse(null);
        if (wanted == null && !setting.equals("auto")) {
            LOG.warn(
                    "{} is '{}'; auto, off, avx2, avxvnni, avx512 and avx512vbmi are understood, auto is used. [CFG-001]",
                    SETTING,
                    setting);
        }
        return wanted;
    }

    /// Frees all code; waits for running calls.
    @Override
    @Deactivate
    public synchronized void close() {
        if (kernels == null) {
            kernels = List.of();
        }
        state = "stopped";
        if (formats != null) {
            formats.close();
            formats = null;
        }
        for (Kernel kernel : kernels) {
            switch (kernel) {
                case MachineLinear linear -> linear.close();
                case MachineAttention attend -> attend.close();
                case MachineElements own -> own.close();
                default -> throw new IllegalStateException(kernel.name() + " has no code to free");
            }
        }
    }

    @Override
    public synchronized String toString() {
        return "x86 kernels: " + state + (kernels == null ? "" : "; " + kernels.size() + " kernels " + kernels);
    }
}
