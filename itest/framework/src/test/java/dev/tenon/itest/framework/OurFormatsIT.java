package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.QuantFormatContract;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/// Every format of ours, found by `ServiceLoader` in the finished jar, keeps the format contract.
@ParameterizedClass(name = "{0}")
@MethodSource("ids")
class OurFormatsIT extends QuantFormatContract {
    private final QuantFormat format;

    OurFormatsIT(String id) {
        format = all().get(id);
        assertEquals(id, format.id());
    }

    static List<String> ids() {
        return new TreeSet<>(all().keySet()).stream().toList();
    }

    static Map<String, QuantFormat> all() {
        Map<String, QuantFormat> formats = new HashMap<>();
        for (QuantFormat format : ServiceLoader.load(QuantFormat.class)) {
            formats.put(format.id(), format);
        }
        return formats;
    }

    @Override
    protected QuantFormat format() {
        return format;
    }

    @Override
    protected List<Golden> golden() {
        if (format.id().equals("F32")) {
            byte[] blocks = {0, 0, (byte) 0x80, 0x3f, 0, 0, 0, (byte) 0x80, 1, 0, 0, 0};
            return List.of(new Golden("by hand", blocks, new float[] {1, -0f, Float.MIN_VALUE}));
        }
        if (format.id().equals("I32")) {
            byte[] blocks = {1, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 1};
            return List.of(new Golden("by hand", blocks, new float[] {1, -1, 1 << 24}));
        }
        byte[] blocks = resource(format.id() + ".blocks.bin");
        FloatBuffer values = ByteBuffer.wrap(unpacked(format.id() + ".values.f32.gz"))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();
        float[] all = new float[values.remaining()];
        values.get(all);
        return List.of(new Golden("golden data", blocks, all));
    }

    private static byte[] unpacked(String name) {
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(resource(name)))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] resource(String name) {
        try (InputStream in = OurFormatsIT.class.getResourceAsStream("/golden/quant/dequant/" + name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void allFormatsAreHere() {
        assertEquals(BundlesIT.FORMATS, new TreeSet<>(all().keySet()));
    }
}
