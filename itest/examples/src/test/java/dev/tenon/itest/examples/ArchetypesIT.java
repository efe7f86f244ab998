package dev.tenon.itest.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The jars of projects that the archetypes made, and that nobody has changed, in a running platform.
///
/// Long: the projects are made and built by builds of their own.
@Tag("long")
class ArchetypesIT {
    private static final Path MADE = Path.of(System.getProperty("tenon.archetypes"));
    private static final Path LLAMA = Path.of("../golden/src/test/resources/golden/models/llama-gqa.f16.gguf")
            .toAbsolutePath();

    @TempDir
    Path folder;

    private static Path jar(String kind) {
        Path jar = MADE.resolve(kind + "/out/my-" + kind + "/target/my-" + kind + "-1.0.0.jar");
        assertTrue(Files.exists(jar), () -> "the build made no " + jar);
        return jar;
    }

    private String line(Path model, String backend) {
        return model + " " + backend + " 1,2,3,4,5 " + folder.resolve("logits.f32");
    }

    private float[] logits() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("logits.f32")))
                .order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[bytes.remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(values);
        return values;
    }

    private static double nmse(float[] got, float[] truth) {
        assertEquals(truth.length, got.length);
        double error = 0;
        double power = 0;
        for (int i = 0; i < got.length; i++) {
            double d = (double) got[i] - truth[i];
            error += d * d;
            power += (double) truth[i] * truth[i];
        }
        return error / power;
    }

    /// The llama's file with another name for its architecture, of as many letters.
    private Path renamed() throws IOException {
        String file = Files.readString(LLAMA, StandardCharsets.ISO_8859_1);
        String renamed = file.replace("llama.", "mylma.").replaceFirst("(general\\.architecture.{12})llama", "$1mylma");
        Path target = folder.resolve("mylma.gguf");
        Files.writeString(target, renamed, StandardCharsets.ISO_8859_1);
        return target;
    }

    @Test
    void theBundlesWorkAsTheyWereMade() throws Exception {
        Platform platform = new Platform(folder);
        Path my8 = folder.resolve("llama.my8.gguf");
        platform.drop(jar("format"));
        platform.run("quantize", LLAMA.toString(), my8.toString(), "MY8");
        Path mylma = renamed();
        try (Platform.Running running = platform.new Running()) {
            assertTrue(running.ask(line(LLAMA, "mine")).contains("BACKEND-001"), "there is no such backend yet");
            assertTrue(running.ask(line(mylma, "auto")).contains("MODEL-003"), "there is no such architecture yet");
            running.ask(line(LLAMA, "auto"));
            float[] truth = logits();
            running.askUntil(line(my8, "auto"), answer -> answer.startsWith("done "));
            double eightBits = nmse(logits(), truth);
            assertTrue(eightBits > 1e-7 && eightBits < 1e-2, "NMSE of MY8: " + eightBits);
            platform.drop(jar("backend"));
            running.askUntil(line(LLAMA, "mine"), answer -> answer.equals("done [plain.java]"));
            assertTrue(nmse(logits(), truth) < 1e-8, "NMSE of the backend: " + nmse(logits(), truth));
            platform.drop(jar("model"));
            running.askUntil(line(mylma, "auto"), answer -> answer.startsWith("done "));
            // Of the same weights, with pairs rotated in the other way: another model.
            double other = nmse(logits(), truth);
            assertTrue(other > 1e-4, "NMSE of the other architecture: " + other);
        }
        List<String> bundles = platform.run("bundles");
        for (String name : List.of("com.example.myformat", "com.example.mymodel", "com.example.mybackend")) {
            assertTrue(
                    bundles.stream().anyMatch(row -> row.contains("ACTIVE") && row.contains(" " + name + " ")),
                    () -> name + " is not among\n" + String.join("\n", bundles));
        }
    }
}
