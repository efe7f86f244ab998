package dev.tenon.backend.cpu.vector;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Finds out whether this JVM runs Vector API code fast: the module must be there, and C2 must be the
/// compiler. Other compilers run the same code many times slower than plain Java.
final class JvmCheck {
    private static final String MODULE = "jdk.incubator.vector";

    private JvmCheck() {}

    /// What decides, read from the running JVM or made up by a test.
    ///
    /// @param vmName system property `java.vm.name`
    /// @param vendorVersion system property `java.vendor.version`
    /// @param vmInfo system property `java.vm.info`
    /// @param arguments the JVM's options
    /// @param vectorModule whether the Vector API's module is in the JVM
    record Facts(String vmName, String vendorVersion, String vmInfo, List<String> arguments, boolean vectorModule) {
        /// {@return the facts of this JVM}
        static Facts ofThisJvm() {
            return new Facts(
                    System.getProperty("java.vm.name", ""),
                    System.getProperty("java.vendor.version", ""),
                    System.getProperty("java.vm.info", ""),
                    ManagementFactory.getRuntimeMXBean().getInputArguments(),
                    hasVectorModule());
        }

        private static boolean hasVectorModule() {
            try {
                // Not a look into the boot layer: a launcher may load the module later.
                Class.forName(MODULE + ".Vector", false, null);
                return true;
            } catch (ClassNotFoundException e) {
                return false;
            }
        }
    }

    /// Lists what is wrong.
    ///
    /// @param facts what the JVM is
    /// @return issues `ENV-002`; empty when Vector API kernels run fast
    static List<Issue> issues(Facts facts) {
        List<Issue> issues = new ArrayList<>();
        if (!facts.vectorModule()) {
            issues.add(warning("module " + MODULE + " is not in the JVM; where no machine code serves, the CPU "
                    + "backend uses plain Java kernels, several times slower. Start Java with --add-modules "
                    + MODULE));
        }
        String why = whyNotC2(facts);
        if (!why.isEmpty()) {
            issues.add(warning("the JIT compiler is not HotSpot's C2: " + why
                    + "; where no machine code serves, the CPU backend uses plain Java kernels, several times slower. "
                    + "Start a HotSpot JDK without that option"));
        }
        return issues;
    }

    /// {@return whether C2 compiles here}
    ///
    /// @param facts what the JVM is
    static boolean isC2(Facts facts) {
        return whyNotC2(facts).isEmpty();
    }

    /// Tells why C2 does not compile here, or an empty string if it does.
    private static String whyNotC2(Facts facts) {
        String name = facts.vmName().toLowerCase(Locale.ROOT);
        boolean hotspot = name.contains("hotspot") || name.contains("openjdk");
        if (!hotspot || name.contains("client") || name.contains("zero")) {
            return "the JVM is " + facts.vmName();
        }
        if (facts.vmInfo().contains("interpreted")) {
            return "the JVM only interprets (-Xint)";
        }
        if (facts.vmInfo().contains("emulated-client")) {
            return "compilation stops at C1 (-XX:TieredStopAtLevel or -XX:CompilationMode)";
        }
        String why = facts.vendorVersion().contains("GraalVM") ? "GraalVM compiles with Graal" : "";
        for (String argument : facts.arguments()) {
            // The last of contradicting options counts, as in the JVM itself.
            if (argument.equals("-XX:+UseJVMCICompiler")) {
                why = "-XX:+UseJVMCICompiler chooses Graal";
            } else if (argument.equals("-XX:-UseJVMCICompiler")) {
                why = "";
            } else if (argument.startsWith("-XX:TieredStopAtLevel=") && !argument.endsWith("=4")) {
                why = argument + " keeps C2 from compiling";
            } else if (argument.equals("-XX:-EnableVectorSupport")) {
                why = argument + " takes C2's vector support away";
            }
        }
        return why;
    }

    private static Issue warning(String text) {
        return new Issue(Issue.Severity.WARNING, ErrorCode.ENV_JVM, text, "cpu-vector");
    }
}
