package dev.tenon.platform.image;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/// A Java runtime of the modules that are needed, made by `jlink`: of this JDK, or of another
/// platform's modules.
final class JavaRuntime {
    /// What the distribution's jars use, `java.desktop`, without which pictures are not read, and
    /// `jdk.management`, without which HotSpot is not recognised.
    private static final String MODULES = "java.base,java.desktop,java.logging,java.management,java.naming,"
            + "java.net.http,java.xml,jdk.incubator.vector,jdk.management,jdk.unsupported";
    private static final Pattern TARGET = Pattern.compile("(?m)^platform (\\S+)");

    private final String jmods;

    /// @param jmods a folder with the `.jmod` files of a JDK 25 for another platform; empty for this
    ///     JDK
    JavaRuntime(String jmods) {
        this.jmods = jmods;
    }

    /// {@return the platform as JDKs name it, such as `linux-amd64`}
    ///
    /// @throws IOException if the modules do not tell
    String platform() throws IOException {
        if (isOwn()) {
            String os = System.getProperty("os.name").toLowerCase(Locale.ROOT).replaceFirst("(mac|[a-z]+).*", "$1");
            return os.replace("mac", "macos") + "-" + System.getProperty("os.arch");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream printed = new PrintStream(out, false, StandardCharsets.UTF_8);
        tool("jmod", printed, "describe", Path.of(jmods, "java.base.jmod").toString());
        Matcher target = TARGET.matcher(out.toString(StandardCharsets.UTF_8));
        if (!target.find()) {
            throw new IOException(jmods + "/java.base.jmod names no platform");
        }
        return target.group(1);
    }

    /// {@return whether it runs here}
    boolean isOwn() {
        return jmods.isEmpty();
    }

    /// Makes the runtime. Its classes are not compressed: what it goes into is, by more. They keep
    /// their debug attributes: jlink runs the plugin that strips them and the one that generates
    /// classes of method handles in an order that varies, so the bytes would, too.
    ///
    /// @param to its folder, which is not there
    /// @throws IOException if jlink fails
    void link(Path to) throws IOException {
        List<String> options = new ArrayList<>(List.of("--add-modules", MODULES));
        options.addAll(List.of("--no-header-files", "--no-man-pages", "--compress", "zip-0"));
        if (!isOwn()) {
            options.addAll(List.of("--module-path", jmods));
        }
        options.addAll(List.of("--output", to.toString()));
        tool("jlink", System.out, options.toArray(String[]::new));
    }

    private static void tool(String name, PrintStream out, String... arguments) throws IOException {
        int status = ToolProvider.findFirst(name)
                .orElseThrow(() -> new IOException("This JDK has no " + name + ". Build with a complete JDK 25."))
                .run(out, System.err, arguments);
        if (status != 0) {
            throw new IOException(name + " ended with status " + status);
        }
    }
}
