package dev.tenon.platform.cli.doctor;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.platform.boot.CacheMaker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/// Checks the JVM: version, flags, vector unit, compiler.
final class JvmChecks {
    private static final String IN_BRACKETS = " [" + ErrorCode.ENV_JVM + "]";

    private JvmChecks() {}

    /// Runs all checks.
    ///
    /// @param report receives the findings
    static void run(DoctorReport report) {
        report.pass(
                "java",
                Runtime.version() + ", " + System.getProperty("java.vm.name") + ", "
                        + Runtime.getRuntime().availableProcessors() + " processors");
        platform(report, System.getProperty("os.name"), System.getProperty("os.arch"));
        vectorModule(report, hasClass("jdk.incubator.vector.Vector"));
        compiler(report, System.getProperty("java.vm.info", ""), flag("TieredStopAtLevel"), flag("UseJVMCICompiler"));
        vectorBits(report, flag("MaxVectorSize"), System.getProperty("os.arch"));
        nativeAccess(report, JvmChecks.class.getModule().isNativeAccessEnabled());
        startCache(report, System.getProperty("tenon.cache", ""), System.getProperty("tenon.mark") != null);
    }

    /// Says whether the cache that shortens a start is used, or being made; nothing where the start script has no
    /// folder for it.
    static void startCache(DoctorReport report, String folder, boolean used) {
        if (folder.isEmpty()) {
            return;
        }
        try {
            report.pass(
                    "start-up cache",
                    CacheMaker.running(Path.of(folder))
                            .map(maker -> "process " + maker.pid()
                                    + " makes it with the least priority; until then starts" + " take longer")
                            .orElse(used ? "in use" : "not in use"));
        } catch (IOException e) {
            report.warn(
                    "start-up cache",
                    "it is not known who makes it: " + e.getMessage() + " [" + ErrorCode.IO + "]",
                    "Make " + folder + " readable.");
        }
    }

    /// {@return whether the JDK's own loader has a class; its module need not be in the boot layer}
    private static boolean hasClass(String name) {
        try {
            Class.forName(name, false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /// Says what works on this operating system and processor: only Linux on x86-64 is tested as a
    /// whole.
    static void platform(DoctorReport report, String os, String arch) {
        boolean x86 = arch.equals("amd64") || arch.equals("x86_64");
        boolean machineCode = x86 && !os.startsWith("Windows");
        String name = os + " " + arch;
        if (os.equals("Linux") && x86) {
            report.pass("platform", name);
        } else {
            report.warn(
                    "platform",
                    name + " is not tested: models run on the CPU with "
                            + (machineCode ? "generated machine code" : "Vector API kernels")
                            + IN_BRACKETS,
                    ((os.equals("Linux") ? "" : "GPU backends need Linux. ")
                                    + (machineCode
                                            ? ""
                                            : "The faster machine-code kernels need x86-64 with Linux or macOS."))
                            .strip());
        }
    }

    static void vectorModule(DoctorReport report, boolean present) {
        if (present) {
            report.pass("vector module", "jdk.incubator.vector is present");
        } else {
            report.fail(
                    "vector module",
                    "jdk.incubator.vector is missing, so there are no fast kernels on the CPU" + IN_BRACKETS,
                    "Start the JVM with --add-modules jdk.incubator.vector, as the tenon script does.");
        }
    }

    static void compiler(DoctorReport report, String vmInfo, Optional<String> stopLevel, Optional<String> jvmci) {
        if (vmInfo.toLowerCase(Locale.ROOT).contains("interpreted")) {
            report.fail(
                    "compiler", "the JVM runs in interpreted mode (-Xint)" + IN_BRACKETS, "Start it without -Xint.");
        } else if (stopLevel.isPresent() && !stopLevel.get().equals("4")) {
            report.fail(
                    "compiler",
                    "C2 is off (TieredStopAtLevel=" + stopLevel.get() + "), so vector code is slow" + IN_BRACKETS,
                    "Start the JVM without -XX:TieredStopAtLevel and -client.");
        } else if (jvmci.map("true"::equals).orElse(false)) {
            report.warn(
                    "compiler",
                    "the compiler is Graal (JVMCI) instead of C2; the Vector API may be slow" + IN_BRACKETS,
                    "Start the JVM with -XX:-UseJVMCICompiler.");
        } else if (stopLevel.isEmpty()) {
            report.warn(
                    "compiler",
                    "not a HotSpot JVM; the Vector API may be slow" + IN_BRACKETS,
                    "Use an OpenJDK build with HotSpot, such as Temurin 25.");
        } else {
            report.pass("compiler", "C2, " + vmInfo);
        }
    }

    static void vectorBits(DoctorReport report, Optional<String> maxVectorSize, String arch) {
        if (maxVectorSize.isEmpty() || !maxVectorSize.get().matches("\\d+")) {
            report.warn(
                    "vector unit",
                    "this JVM does not tell its width" + IN_BRACKETS,
                    "Use an OpenJDK build with HotSpot.");
            return;
        }
        int bits = 8 * Integer.parseInt(maxVectorSize.get());
        if (bits < 128) {
            report.fail(
                    "vector unit",
                    "the JVM uses no vectors (MaxVectorSize=" + maxVectorSize.get() + ")" + IN_BRACKETS,
                    "Start the JVM without -XX:MaxVectorSize; check that the virtual machine exposes the vector unit.");
        } else if (bits < 256 && arch.equals("amd64")) {
            report.warn(
                    "vector unit",
                    bits + " bits; processors with AVX2 have 256" + IN_BRACKETS,
                    "Check that the machine (or virtual machine) exposes AVX2, and -XX:MaxVectorSize.");
        } else {
            report.pass("vector unit", bits + " bits");
        }
    }

    static void nativeAccess(DoctorReport report, boolean enabled) {
        if (enabled) {
            report.pass("native access", "enabled");
        } else {
            report.warn(
                    "native access",
                    "not enabled: GPU backends print a warning, and fail in later JDKs" + IN_BRACKETS,
                    "Start the JVM with --enable-native-access=ALL-UNNAMED.");
        }
    }

    private static Optional<String> flag(String name) {
        try {
            return HotSpot.flag(name);
        } catch (NoClassDefFoundError e) {
            return Optional.empty();
        }
    }
}
