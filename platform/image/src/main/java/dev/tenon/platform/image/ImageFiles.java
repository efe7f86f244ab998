package dev.tenon.platform.image;

import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/// The layers of the image, laid out in a folder. All belongs to root, and nothing but `/tmp` can be written by others.
final class ImageFiles {
    /// Whether this machine, and so the image, is an AArch64 one.
    static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

    /// Libraries that the runtime names, and those by which the C library looks up hosts.
    private static final List<String> LIBRARIES = List.of(
            "libc.so.6",
            "libm.so.6",
            "libdl.so.2",
            "libpthread.so.0",
            "librt.so.1",
            "libresolv.so.2",
            "libnss_dns.so.2",
            "libnss_files.so.2");

    private final Path work;
    private final Instant time;

    /// @param work the folder; emptied
    /// @param time time of change that all files bear, so that the same files give the same image
    ImageFiles(Path work, Instant time) throws IOException {
        this.work = work;
        this.time = time;
        Trees.delete(work);
        Files.createDirectories(work);
    }

    /// The C library with its licence, the names of users and hosts, and empty folders.
    ///
    /// @param glibc the folder of the loader and the library; empty for that of this machine
    FileEntriesLayer base(String glibc) throws IOException {
        String folder = ARM ? "/lib/aarch64-linux-gnu" : "/lib/x86_64-linux-gnu";
        Path source = Path.of(glibc.isEmpty() ? folder : glibc);
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("base");
        for (String library : LIBRARIES) {
            file(layer, source.resolve(library).toRealPath(), folder + "/" + library, "755");
        }
        String loader = ARM ? "ld-linux-aarch64.so.1" : "ld-linux-x86-64.so.2";
        file(layer, source.resolve(loader).toRealPath(), (ARM ? "/lib/" : "/lib64/") + loader, "755");
        Path licence = Path.of("/usr/share/doc/libc6/copyright");
        if (Files.exists(licence)) {
            file(layer, licence, licence.toString(), "644");
        }
        text(layer, "/etc/passwd", "root:x:0:0::/:\ntenon:x:65532:65532::/tmp:\n");
        text(layer, "/etc/group", "root:x:0:\ntenon:x:65532:\n");
        text(layer, "/etc/nsswitch.conf", "hosts: files dns\n");
        Path empty = Files.createDirectories(work.resolve("empty"));
        layer.addEntry(empty, AbsoluteUnixPath.get("/models"), FilePermissions.fromOctalString("755"), time);
        layer.addEntry(empty, AbsoluteUnixPath.get("/tmp"), FilePermissions.fromOctalString("777"), time);
        return layer.build();
    }

    private void text(FileEntriesLayer.Builder layer, String path, String text) throws IOException {
        Path file = work.resolve("etc").resolve(Path.of(path).getFileName());
        Files.createDirectories(file.getParent());
        file(layer, Files.writeString(file, text), path, "644");
    }

    private void file(FileEntriesLayer.Builder layer, Path source, String path, String mode) {
        layer.addEntry(source, AbsoluteUnixPath.get(path), FilePermissions.fromOctalString(mode), time);
    }

    /// A Java runtime.
    FileEntriesLayer runtime() throws IOException {
        Path runtime = work.resolve("java");
        new JavaRuntime("").link(runtime);
        return tree("java", runtime, "/opt/java");
    }

    /// The distribution without models and what only a shell needs.
    FileEntriesLayer distribution(Path archive) throws IOException {
        Path home = work.resolve("tenon");
        Trees.unzip(
                archive,
                home,
                name -> !name.endsWith(".gguf") && !name.startsWith("bin/") && !name.startsWith("share/"));
        return tree("tenon", home, ImageBuilder.HOME);
    }

    FileEntriesLayer model(Path model) {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("model");
        file(layer, model, "/models/" + model.getFileName(), "644");
        return layer.build();
    }

    private FileEntriesLayer tree(String name, Path source, String to) throws IOException {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName(name);
        try (Stream<Path> paths = Files.walk(source)) {
            paths.sorted().forEach(path -> {
                boolean runs = Files.isDirectory(path) || path.getParent().endsWith("bin") || isHelper(path);
                file(layer, path, to + "/" + source.relativize(path), runs ? "755" : "644");
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return layer.build();
    }

    private static boolean isHelper(Path path) {
        return path.endsWith("lib/jspawnhelper")
                || path.getFileName().toString().matches(".*\\.so(\\..*)?");
    }
}
