package dev.tenon.platform.image;

import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainer;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import com.google.cloud.tools.jib.api.buildplan.Platform;
import com.google.cloud.tools.jib.api.buildplan.Port;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Makes the image: a jlinked runtime, the distribution without its model, and the C library, from no base image and
/// without a daemon. The process writes to `/tmp` alone.
///
/// Arguments: the distribution's archive, the folder to write to, the version, the time that the image bears. System
/// properties, each of which may be empty: `tenon.image.glibc`, the folder of the loader and the C library;
/// `tenon.image.model`, a GGUF file that goes in, too.
public final class ImageBuilder {
    /// The folder of the distribution in the image.
    static final String HOME = "/opt/tenon";

    private static final String USER = "65532:65532";
    private static final int HTTP_PORT = 8080;

    private ImageBuilder() {}

    /// Makes the image.
    ///
    /// @param args see the class
    /// @throws Exception if anything fails
    public static void main(String[] args) throws Exception {
        Path target = Path.of(args[1]);
        Instant time = Instant.parse(args[3]);
        ImageFiles files = new ImageFiles(target.resolve("image"), time);
        JibContainerBuilder builder = container(time)
                .addFileEntriesLayer(files.base(System.getProperty("tenon.image.glibc", "")))
                .addFileEntriesLayer(files.runtime())
                .addFileEntriesLayer(files.distribution(Path.of(args[0])));
        String model = System.getProperty("tenon.image.model", "");
        if (!model.isEmpty()) {
            builder.addFileEntriesLayer(files.model(Path.of(model)));
        }
        Path tar = target.resolve("tenon-" + args[2] + "-image.tar");
        Path cache = target.resolve("image/cache");
        JibContainer made =
                builder.containerize(Containerizer.to(TarImage.at(tar).named("tenon:" + args[2]))
                        .setOfflineMode(true)
                        .setBaseImageLayersCache(cache)
                        .setApplicationLayersCache(cache));
        System.out.printf("%s: %s, %,d bytes%n", tar, made.getDigest(), Files.size(tar));
    }

    private static JibContainerBuilder container(Instant time) throws IOException {
        return Jib.fromScratch()
                .setFormat(ImageFormat.OCI)
                .setPlatforms(Set.of(new Platform(ImageFiles.ARM ? "arm64" : "amd64", "linux")))
                .setCreationTime(time)
                .setUser(USER)
                .setWorkingDirectory(AbsoluteUnixPath.get("/tmp"))
                .setExposedPorts(Port.tcp(HTTP_PORT))
                .setEnvironment(Map.of(
                        "PATH", "/opt/java/bin",
                        "LC_ALL", "C.UTF-8",
                        "TENON_AOT", "off",
                        "TENON_SERVE_HOST", "0.0.0.0",
                        "TENON_SERVE_MODELS_DIR", "/models",
                        "NVIDIA_VISIBLE_DEVICES", "all",
                        "NVIDIA_DRIVER_CAPABILITIES", "compute,utility"))
                .setEntrypoint(
                        // What bin/tenon starts; the image has no shell.
                        "/opt/java/bin/java",
                        "@" + HOME + "/lib/launcher.options",
                        "-Xms0", // JDK_JAVA_OPTIONS may ask for a smaller heap than the options begin with
                        "--add-exports",
                        "java.base/jdk.internal.module=ALL-UNNAMED",
                        "-Dtenon.vector=first",
                        "-Dtenon.work=",
                        "-Dtenon.tty=",
                        "-Dtenon.cache=/tmp/tenon",
                        "-Dtenon.home=" + HOME,
                        "-cp",
                        HOME + "/lib/*",
                        "dev.tenon.platform.launcher.Main")
                .setProgramArguments(List.of("serve"));
    }
}
