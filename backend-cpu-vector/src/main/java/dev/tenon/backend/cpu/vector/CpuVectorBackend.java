package dev.tenon.backend.cpu.vector;

import aQute.bnd.annotation.Resolution;
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
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.backend.cpu.vector.threads.CpuPinning;
import dev.tenon.backend.cpu.vector.threads.CpuThreads;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.osgi.service.component.annotations.Component;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The CPU backend: always available, with Vector API kernels where the JVM compiles them well and plain
/// Java kernels elsewhere.
@Component(service = Backend.class, property = "backend.id=cpu-vector")
@ServiceProvider(value = Backend.class, resolution = Resolution.OPTIONAL)
public final class CpuVectorBackend implements Backend {
    /// The backend's id.
    static final String ID = "cpu-vector";

    private static final String DEVICE = "0";
    private static final Logger LOG = LoggerFactory.getLogger(CpuVectorBackend.class);
    private static final AtomicBoolean WARNED = new AtomicBoolean();

    /// Creates the backend; nothing is looked for yet.
    public CpuVectorBackend() {}

    @Override
    public String id() {
        return ID;
    }

    @Override
    public List<Setting> settings() {
        return CpuSettings.ALL;
    }

    @Override
    public List<Knob> knobs() {
        return CpuSettings.knobs(CpuFacts.processors());
    }

    @Override
    public int rank() {
        return 100;
    }

    @Override
    public Probe probe() {
        List<Issue> issues = JvmCheck.issues(JvmCheck.Facts.ofThisJvm());
        if (!issues.isEmpty() && WARNED.compareAndSet(false, true)) {
            issues.forEach(issue -> LOG.warn("{} [{}]", issue.message(), issue.code()));
        }
        KernelSet kernels = new KernelSet(issues.isEmpty());
        return new Probe(true, CpuFacts.processorName() + ", " + kernels.describe(), issues);
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(info(probe().issues().isEmpty(), null));
    }

    @Override
    public Device open(DeviceOptions options) {
        if (!options.deviceId().isEmpty() && !options.deviceId().equals(DEVICE)) {
            throw new BackendException(
                    ErrorCode.BACKEND_UNAVAILABLE,
                    "backend " + ID + " has no device '" + options.deviceId() + "'; its only device is '" + DEVICE
                            + "'");
        }
        if (options.threads() < 0) {
            throw new IllegalArgumentException(
                    options.threads() + " threads; expected 1 or more, or 0 for the default");
        }
        boolean vector = probe().issues().isEmpty();
        int threads = options.threads() > 0 ? options.threads() : CpuFacts.processors();
        CpuPinning pinning = CpuPinning.of(options.settings(), threads).orElse(null);
        return new CpuDevice(
                info(vector, pinning), CpuThreads.of(threads, pinning, options.settings()), new KernelSet(vector));
    }

    private static DeviceInfo info(boolean vector, CpuPinning pinning) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put("kernels", new KernelSet(vector).describe());
        details.put("vector-bits", Integer.toString(new KernelSet(vector).vectorBits()));
        details.put("threads", Integer.toString(CpuFacts.processors()));
        if (pinning != null) {
            details.put("pinned-to", Arrays.toString(pinning.processors()));
        }
        details.put("c2", JvmCheck.isC2(JvmCheck.Facts.ofThisJvm()) ? "yes" : "no");
        return new DeviceInfo(DEVICE, CpuFacts.processorName(), KernelSet.KIND, CpuFacts.memoryBytes(), details);
    }
}
