package dev.tenon.quant.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.QuantFormat;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The set of formats as a whole.
class QuantFormatsTests {
    @Test
    void idsAndTypeNumbersAreUnique() {
        List<QuantFormat> all = QuantFormats.all();
        assertEquals(all.size(), all.stream().map(QuantFormat::id).distinct().count());
        assertEquals(
                all.size(), all.stream().map(QuantFormat::ggmlType).distinct().count());
    }

    @Test
    void classesAreNamedAfterTheirFormat() {
        for (QuantFormat format : QuantFormats.all()) {
            assertEquals(format.id() + "Format", format.getClass().getSimpleName());
            assertEquals(format.id(), format.toString());
        }
    }

    @Test
    void everyFormatClassOfThePackageIsListed() throws IOException, URISyntaxException {
        Path folder = Path.of(
                        QuantFormats.class.getResource("QuantFormats.class").toURI())
                .getParent();
        List<String> classes;
        try (Stream<Path> files = Files.list(folder)) {
            classes = files.map(f -> f.getFileName().toString())
                    .filter(f -> f.endsWith("Format.class") && !f.equals("BlockFormat.class"))
                    .map(f -> f.substring(0, f.length() - ".class".length()))
                    .sorted()
                    .toList();
        }
        List<String> listed = QuantFormats.all().stream()
                .map(f -> f.getClass().getSimpleName())
                .sorted()
                .toList();
        assertEquals(classes, listed);
    }

    @Test
    void everyFormatCanBeMadeByAServiceLoader() throws ReflectiveOperationException {
        for (QuantFormat format : QuantFormats.all()) {
            assertTrue(Modifier.isPublic(format.getClass().getModifiers()), format.id());
            assertNotNull(format.getClass().getConstructor().newInstance());
        }
    }

    @Test
    void everyFormatHasAnEncoder() {
        for (QuantFormat format : QuantFormats.all()) {
            assertTrue(format.quantizer().isPresent(), format.id());
        }
    }

    @Test
    void bytesOfALargeTensorAreALong() {
        QuantFormat q8 = new Q8_0Format();
        assertEquals(34L << 35, q8.bytesFor(1L << 40));
        assertThrows(IllegalArgumentException.class, () -> q8.bytesFor(33));
        assertThrows(ArithmeticException.class, () -> q8.bytesFor(Long.MAX_VALUE - 31));
    }
}
