package dev.tenon.kernels.nvidia;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.kernels.nvidia.plan.TestGraphs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ShippedLayoutTests {
    private static final Path SOURCES = Path.of("src/main/resources/dev/tenon/kernels/nvidia");

    static Stream<String> ids() {
        return DeviceFormat.SHIPPED_LAYOUTS.stream().sorted();
    }

    /// `-Dtenon.kernels.renew=true` writes the files.
    @ParameterizedTest
    @MethodSource("ids")
    void theSourceSaysWhatTheLayoutSays(String id) throws IOException {
        DeviceFormat format = DeviceFormats.OWN.of(TestGraphs.named(id));
        String text = "// Made of the layout of " + id + " (LayoutSource); a test compares it.\n"
                + format.header().orElseThrow();
        Path file = SOURCES.resolve(format.headerName());
        if (Boolean.getBoolean("tenon.kernels.renew")) {
            Files.writeString(file, text);
        }
        assertEquals(text, Files.readString(file), "run this test with -Dtenon.kernels.renew=true");
    }
}
