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
import java.util.Set;
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
                    .filter(f -> f.endsWith("Format.class"))
                    .filter(f ->
                            !Set.of("LayoutFormat.class", "BlockFormat.class").contains(f))
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
    void everyFormatHasAnEncoderButWholeNumbersAndThoseThatNeedWeightsOfValues() {
        List<String> readOnly = QuantFormats.all().stream()
                .filter(format -> format.quantizer().isEmpty())
                .map(QuantFormat::id)
                .sorted()
                .toList();
        assertEquals(List.of("I32", "IQ1_M", "IQ1_S", "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ3_S", "IQ3_XXS"), readOnly);
    }

    @Test
    void bytesOfALargeTensorAreALong() {
        QuantFormat q8 = new Q8_0Format();
        assertEquals(34L << 35, q8.bytesFor(1L << 40));
        assertThrows(IllegalArgumentException.class, () -> q8.bytesFor(33));
        assertThrows(ArithmeticException.class, () -> q8.bytesFor(Long.MAX_VALUE - 31));
    }
}
