package dev.tenon.platform.cli.doctor;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/// Asks the HotSpot JVM about itself. On another JVM, or without module `jdk.management`, using it throws
/// `NoClassDefFoundError`, or answers are empty.
final class HotSpot {
    private HotSpot() {}

    /// {@return the value of a JVM flag}
    ///
    /// @param flag such as `MaxVectorSize`
    static Optional<String> flag(String flag) {
        HotSpotDiagnosticMXBean bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        if (bean == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(bean.getVMOption(flag).getValue());
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // this JVM has no such flag
        }
    }

    /// {@return physical memory in bytes, as the container allows it}
    static long memoryBytes() {
        return bean().getTotalMemorySize();
    }

    /// {@return free physical memory in bytes}
    static long freeBytes() {
        return bean().getFreeMemorySize();
    }

    private static OperatingSystemMXBean bean() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    }
}
