package dev.tenon.platform.bench.suite;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Probe;
import dev.tenon.api.engine.Engine;
import dev.tenon.platform.bench.measure.HostMemory;
import dev.tenon.platform.bench.measure.ReadBandwidth;
import dev.tenon.platform.bench.output.BenchFields;
import dev.tenon.platform.cli.text.Sizes;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/// What a report says of the machine.
final class MachineFacts {
    private MachineFacts() {}

    /// {@return the facts, in the order in which they are shown}
    ///
    /// @param engine the engine, whose backends tell of their devices and drivers
    /// @param version version of the program
    /// @param threads how many threads measure the bandwidth of reading
    static Map<String, String> of(Engine engine, String version, int threads) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("program", version);
        facts.put("processor", BenchFields.cpuInfo());
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        clocks(facts);
        if (HostMemory.totalBytes() > 0) {
            facts.put(
                    "memory",
                    Sizes.bytes(HostMemory.totalBytes()) + ", " + Sizes.bytes(HostMemory.availableBytes()) + " free");
        }
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        if (load >= 0) {
            facts.put("load average at the start", String.format(Locale.ROOT, "%.2f", load));
        }
        try (ReadBandwidth reader = new ReadBandwidth(ReadBandwidth.automaticBytes())) {
            facts.put(
                    "reading from memory",
                    String.format(Locale.ROOT, "%.2f GB/s with %d threads", reader.measure(threads) / 1e9, threads));
        }
        facts.put(
                "system",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                        + System.getProperty("os.arch"));
        facts.put("JVM", System.getProperty("java.vm.name") + " " + Runtime.version());
        for (Backend backend : engine.backends()) {
            Probe probe = backend.probe();
            if (!probe.available()) {
                facts.put("backend " + backend.id(), "not available: " + probe.reason());
                continue;
            }
            for (DeviceInfo device : backend.devices()) {
                StringBuilder text = new StringBuilder(device.name().replaceFirst("\\.$", ""));
                device.details()
                        .forEach((name, value) ->
                                text.append(", ").append(name).append(' ').append(value));
                facts.put("backend " + backend.id() + ", device " + device.id(), text.toString());
            }
        }
        return facts;
    }

    private static void clocks(Map<String, String> facts) {
        Path info = Path.of("/proc/cpuinfo");
        if (!Files.isReadable(info)) {
            return;
        }
        try (Stream<String> lines = Files.lines(info)) {
            List<String> clocks = lines.filter(line -> line.startsWith("cpu MHz"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .distinct()
                    .toList();
            if (!clocks.isEmpty()) {
                facts.put("clocks at the start", String.join(", ", clocks) + " MHz");
            }
            Path governor = Path.of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
            if (Files.isReadable(governor)) {
                facts.put("frequency governor", Files.readString(governor).strip());
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            facts.put("clocks at the start", "unknown: " + e.getMessage());
        }
    }
}
