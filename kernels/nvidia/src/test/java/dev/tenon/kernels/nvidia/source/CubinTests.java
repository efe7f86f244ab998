package dev.tenon.kernels.nvidia.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The machine code for sm_87 in the bundle. That its kernels take the parameters that are planned is
/// tested where models run with it, on the emulated board.
class CubinTests {
    private static final Path SOURCES = Path.of("src/main/resources/dev/tenon/kernels/nvidia");

    private static KernelModule module(String name) {
        String[] parts = name.split(" ");
        var macros = new java.util.HashMap<String, String>();
        for (String part : List.of(parts).subList(1, parts.length)) {
            macros.put(part.split("=")[0], part.split("=")[1]);
        }
        return new KernelModule(parts[0], macros);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "small.cu",
                "encoders.cu",
                "attention.cu",
                "embedding.cu TENON_FORMAT=Q4_K",
                "embedding.cu TENON_FORMAT=Q6_K",
                "linear.cu TENON_BLOCK=256 TENON_FORMAT=Q4_K",
                "linear.cu TENON_BLOCK=256 TENON_FORMAT=Q6_K",
                "qkv.cu TENON_BLOCK=256 TENON_FORMAT=Q4_K TENON_FORMAT_V=Q6_K"
            })
    void whatTheEmbeddedModelNeedsIsThere(String name) {
        Optional<byte[]> cubin = KernelCatalogue.cubin(module(name));
        assertTrue(cubin.isPresent(), name + ": run kernels/nvidia/cubins.sh where nvcc is installed");
        assertEquals("ELF", new String(cubin.get(), 1, 3, StandardCharsets.US_ASCII), name);
        assertEquals(87, cubin.get()[49], name + " is for another architecture");
    }

    @Test
    void otherModulesAreNot() {
        assertEquals(Optional.empty(), KernelCatalogue.cubin(KernelModule.of("matmul.cu", "Q4_K")));
    }

    /// The file's hash is that of `cubins.sh`: each source's name, a line end and its text, in the
    /// order of names.
    @Test
    void itIsMadeOfTheseSources() throws Exception {
        assumeTrue(Files.isDirectory(SOURCES), "the tests do not run in the module's folder");
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        try (Stream<Path> files = Files.list(SOURCES)) {
            for (Path file : files.filter(
                            f -> f.toString().endsWith(".cu") || f.toString().endsWith(".cuh"))
                    .sorted((a, b) ->
                            a.getFileName().toString().compareTo(b.getFileName().toString()))
                    .toList()) {
                digest.update((file.getFileName() + "\n").getBytes(StandardCharsets.UTF_8));
                digest.update(Files.readAllBytes(file));
            }
        }
        String recorded =
                Files.readString(SOURCES.resolve("prebuilt/sm_87.sha256")).strip();
        boolean same = HexFormat.of().formatHex(digest.digest()).equals(recorded);
        assumeTrue(
                same || hasNvcc(),
                "the sources have changed since the machine code for sm_87 was made, and there is no nvcc here");
        assertTrue(
                same,
                "the sources have changed since the machine code for sm_87 was made: run kernels/nvidia/cubins.sh");
    }

    private static boolean hasNvcc() throws IOException {
        return Arrays.stream(System.getenv()
                        .getOrDefault("PATH", "")
                        .split(java.util.regex.Pattern.quote(java.io.File.pathSeparator)))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "nvcc")));
    }
}
