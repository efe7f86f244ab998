package dev.tenon.backend.nv.tegra.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What the machine's files and tools say, read only.
///
/// @param root where its files begin: `/`
record Machine(Path root) {
    private static final List<String> NODES = List.of("dev/nvmap", "dev/nvgpu/igpu0/ctrl");
    private static final String GPU_CLOCK = "sys/class/devfreq/17000000.gpu/";
    private static final String ACCESS =
            "Add the user to the groups video and render (usermod -aG video,render USER), or"
                    + " install a udev rule such as SUBSYSTEM==\"nvgpu\", GROUP=\"video\", MODE=\"0660\" and the same for"
                    + " KERNEL==\"nvmap\"; a container needs both nodes. Then log in again.";
    private static final Pattern ALARMS = Pattern.compile(
            "sked exception esr|CE engine not idle|gr exception notifier|mmu fault|pbdma intr|ctxsw_timeout");
    private static final Pattern REMARKS = Pattern.compile("commit_rtv_cb|nvmap.*tag");
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final Logger LOG = LoggerFactory.getLogger(Machine.class);

    String release() throws Surprise {
        Path file = root.resolve("etc/nv_tegra_release");
        String text = text(file);
        if (!text.contains("R36")) {
            throw new Surprise(
                    text.isEmpty() ? "there is no " + file : text,
                    "This backend was written for Jetson Linux 36 (JetPack 6) on an Orin.");
        }
        return System.getProperty("os.arch") + ", " + text;
    }

    String nodes() throws Surprise {
        for (String name : NODES) {
            Path node = root.resolve(name);
            if (!Files.exists(node)) {
                throw new Surprise("there is no " + node, "Is the driver loaded (lsmod), and is this an Orin?");
            }
            if (!Files.isReadable(node) || !Files.isWritable(node)) {
                throw new Surprise("no access to " + node, ACCESS);
            }
        }
        return "both are there, with access";
    }

    /// Beside every figure: without these a number says nothing.
    String power() {
        List<String> facts = new ArrayList<>();
        String mode = run("nvpmodel", "-q");
        facts.add("nvpmodel: " + (mode.isEmpty() ? "not known" : mode.replace('\n', ' ')));
        for (String name : List.of("cur_freq", "min_freq", "max_freq")) {
            String value = text(root.resolve(GPU_CLOCK + name));
            facts.add("GPU " + name + " " + (value.isEmpty() ? "not known" : value));
        }
        text(root.resolve("proc/meminfo"))
                .lines()
                .filter(line -> line.startsWith("MemAvailable"))
                .forEach(facts::add);
        return String.join("; ", facts);
    }

    String log() throws Surprise {
        String log = run("dmesg");
        if (log.isEmpty()) {
            return "cannot be read; look at it with `sudo dmesg`";
        }
        List<String> alarms =
                log.lines().filter(line -> ALARMS.matcher(line).find()).toList();
        if (!alarms.isEmpty()) {
            throw new Surprise(
                    String.join(" | ", alarms), "Send the report in. They may be of another program: see their times.");
        }
        List<String> remarks =
                log.lines().filter(line -> REMARKS.matcher(line).find()).toList();
        return "no alarm" + (remarks.isEmpty() ? "" : "; " + String.join(" | ", remarks));
    }

    /// The text of a file; empty if there is none.
    private static String text(Path file) {
        try {
            return Files.isReadable(file) ? Files.readString(file).strip() : "";
        } catch (IOException e) {
            return "(" + e.getMessage() + ")";
        }
    }

    private static String run(String... command) {
        return run(LIMIT, command);
    }

    /// What a tool prints; empty if it is not there, fails, or has not ended in time, when it is killed.
    static String run(Duration limit, String... command) {
        Path output = null;
        try {
            // A file, because reading a pipe would wait for as long as the tool runs.
            output = Files.createTempFile("tenon-nv-", ".txt");
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .redirectOutput(output.toFile())
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(limit)) {
                process.destroyForcibly();
                return "";
            }
            return process.exitValue() == 0 ? text(output) : "";
        } catch (IOException e) {
            LOG.debug("{} says nothing: {}", command[0], e.getMessage());
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        } finally {
            delete(output);
        }
    }

    private static void delete(Path file) {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            LOG.debug("{} stays: {}", file, e.getMessage());
        }
    }
}
