package dev.tenon.platform.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/// The archive, the Debian package and the manifests as their users meet them. The limit on time ends a hang.
@Timeout(600)
class PackagesIT {
    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final String VERSION = System.getProperty("tenon.test.version");

    @TempDir
    Path folder;

    private record Result(int status, String output) {}

    private Result run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> !name.equals("LC_ALL"));
        builder.environment().put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        builder.environment().put("HOME", folder.toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        return new Result(process.waitFor(), output);
    }

    private static Path archive() {
        return built("tenon-" + VERSION + "-linux-" + System.getProperty("os.arch") + ".tar.gz");
    }

    private static Path deb() {
        return built(
                "tenon_" + VERSION + (System.getProperty("os.arch").equals("aarch64") ? "_arm64.deb" : "_amd64.deb"));
    }

    private static Path built(String name) {
        return TARGET.resolve(name);
    }

    @Test
    void theArchiveRunsWithItsOwnRuntime() throws Exception {
        assertEquals(
                "",
                run("tar", "-xzf", archive().toString(), "-C", folder.toString())
                        .output());
        Path home = folder.resolve("tenon-" + VERSION);
        Result check = run(
                "env",
                "TENON_AOT=off",
                "JAVA_HOME=/nowhere",
                home.resolve("bin/tenon").toString(),
                "self-check");
        assertEquals(0, check.status(), check::output);
        assertTrue(check.output().contains("PASS  continuation"), check::output);

        Result sums = run(
                "sh", "-c", "cd \"$0\" && sha256sum --quiet --ignore-missing -c lib/shipped.sha256", home.toString());
        assertEquals(new Result(0, ""), sums);
        Path library = home.resolve("java/lib/server/libjvm.so");
        Files.write(library, new byte[] {0}, java.nio.file.StandardOpenOption.APPEND);
        Files.delete(home.resolve("share/man/man1/tenon.1"));
        Result broken = run("env", "TENON_AOT=off", home.resolve("bin/tenon").toString(), "self-check");
        assertEquals(1, broken.status(), broken::output);
        assertTrue(broken.output().contains("FAIL  file           " + library), broken::output);
        assertTrue(broken.output().contains("tenon.1 is missing [ENV-003]"), broken::output);
    }

    @Test
    void theSameFilesGiveTheSamePackages() throws Exception {
        PackageBuilder.main(new String[] {
            System.getProperty("tenon.test.distribution"),
            folder.toString(),
            VERSION,
            System.getProperty("tenon.test.time"),
            "../../docs/deploy",
            "https://example.org/tenon"
        });
        for (Path file : List.of(archive(), deb())) {
            assertEquals(-1, Files.mismatch(file, folder.resolve(file.getFileName())), file::toString);
        }
    }

    @Test
    void theDebianPackageIsInstalledUsedAndRemoved() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/apt-get")), "skipped: this machine has no apt-get");
        assumeTrue(run("id", "-u").output().strip().equals("0"), "skipped: only the superuser may install packages");
        assumeTrue(!Files.exists(Path.of("/usr/lib/tenon")), "skipped: Tenon is installed on this machine");
        Path over = Files.createDirectory(folder.resolve("over"));
        List<String> unshared = List.of("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh");
        List<String> probe = new ArrayList<>(unshared);
        probe.addAll(List.of(
                "-ec",
                "mount -t tmpfs tmpfs \"$0\" && cd \"$0\" && mkdir u w r && mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w r",
                over.toString()));
        Result overlay = run(probe.toArray(String[]::new));
        assumeTrue(overlay.status() == 0, () -> "skipped: no layer over this machine's files: " + overlay.output());

        List<String> command = new ArrayList<>(unshared);
        command.addAll(List.of("src/test/resources/install.sh", deb().toString(), over.toString()));
        Result install = run(command.toArray(String[]::new));
        assertEquals(0, install.status(), install::output);
        for (String line : List.of(
                "PASS  continuation",
                ", 0 failed",
                "/man1/tenon.1.gz",
                "completed: self-check",
                "Tenon server",
                "Listening at http://127.0.0.1:",
                "\nas before\n")) {
            assertTrue(install.output().contains(line), () -> line + " in " + install.output());
        }
        assertFalse(install.output().matches("(?s).*[1-9]\\d* failed.*"), install::output);
    }

    @Test
    void lintianFindsNothing() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/lintian")), "skipped: this machine has no lintian");
        assertEquals(new Result(0, ""), run("lintian", "--allow-root", "--fail-on", "warning", deb().toString()));
    }

    /// With made-up packages of all platforms, so that each manifest is written.
    @Test
    void manifestsAreFilledAndCanBeRead() throws Exception {
        for (String name : List.of("-linux-amd64.tar.gz", "-windows-amd64.msi")) {
            Files.writeString(folder.resolve("tenon-" + VERSION + name), name);
        }
        Path portable = Files.writeString(folder.resolve("tenon-" + VERSION + ".zip"), "portable");
        Manifests.write(folder, portable, VERSION, "https://example.org/tenon");
        Path manifests = folder.resolve("manifests");
        List<Path> all =
                Trees.below(manifests).stream().filter(Files::isRegularFile).toList();
        assertEquals(
                Trees.below(Manifests.TEMPLATES).stream()
                        .filter(Files::isRegularFile)
                        .count(),
                all.size());
        for (Path file : all) {
            String text = Files.readString(file);
            assertFalse(text.contains("${") && !file.endsWith("recipe.yaml"), text);
            if (file.toString().endsWith(".yaml")) {
                Object read = new Yaml(new SafeConstructor(new LoaderOptions()))
                        .load(text.replace("${{", "{{").replaceAll("\\{\\{ (\\w+) }}", "$1"));
                assertTrue(((Map<?, ?>) read).size() >= 5, text);
            }
        }
        JsonNode release = new ObjectMapper()
                .readTree(manifests.resolve("sdkman/release.json").toFile());
        assertEquals(
                "https://example.org/tenon/releases/" + VERSION + "/tenon-" + VERSION + "-linux-amd64.tar.gz",
                release.get("url").asText());
        assertEquals(64, release.get("sha256sum").asText().length());
        if (Files.isExecutable(Path.of("/usr/bin/ruby"))) {
            assertEquals(
                    new Result(0, "Syntax OK\n"),
                    run("ruby", "-c", manifests.resolve("homebrew/tenon.rb").toString()));
        }
        JsonNode catalog =
                new ObjectMapper().readTree(Path.of("../../jbang-catalog.json").toFile());
        String script = catalog.at("/aliases/tenon/script-ref").asText();
        assertTrue(Files.readString(Path.of("../..", script)).contains("//DEPS dev.tenon:tenon:" + VERSION), script);
        Files.delete(folder.resolve("tenon-" + VERSION + "-windows-amd64.msi"));
        Manifests.write(folder, portable, VERSION, "https://example.org/tenon");
        assertFalse(Files.exists(manifests.resolve("winget")));
    }
}
