package dev.tenon.platform.core.text;

import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/// Reads the metadata of sound GGUF files, for tests only.
final class TestGguf {
    private final ByteBuffer in;

    private TestGguf(ByteBuffer in) {
        this.in = in.order(ByteOrder.LITTLE_ENDIAN);
    }

    /// {@return the metadata of a test resource beside this class}
    static GgufMetadata resource(String name) {
        try (InputStream stream = TestGguf.class.getResourceAsStream(name)) {
            if (stream == null) {
                throw new IllegalArgumentException("no test resource " + name);
            }
            return new TestGguf(ByteBuffer.wrap(stream.readAllBytes())).read(name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// {@return the metadata of a file}
    static GgufMetadata file(Path path) {
        try (FileChannel channel = FileChannel.open(path)) {
            ByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            return new TestGguf(mapped).read(path.getFileName().toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private GgufMetadata read(String source) {
        if (in.getInt() != 0x46554747) {
            throw new IllegalArgumentException(source + " is no GGUF file");
        }
        in.getInt();
        in.getLong();
        long n = in.getLong();
        Map<String, GgufValue> values = new LinkedHashMap<>();
        for (long i = 0; i < n; i++) {
            String key = string();
            values.put(key, value(type()));
        }
        return GgufMetadata.of(source, values);
    }

    private GgufType type() {
        return GgufType.of(in.getInt()).orElseThrow();
    }

    private String string() {
        byte[] bytes = new byte[Math.toIntExact(in.getLong())];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private GgufValue value(GgufType type) {
        if (type != GgufType.ARRAY) {
            return new GgufValue(type, null, scalar(type));
        }
        GgufType element = type();
        int n = Math.toIntExact(in.getLong());
        return new GgufValue(GgufType.ARRAY, element, array(element, n));
    }

    private Object array(GgufType element, int n) {
        if (element == GgufType.STRING) {
            String[] texts = new String[n];
            for (int i = 0; i < n; i++) {
                texts[i] = string();
            }
            return texts;
        }
        if (element == GgufType.FLOAT32) {
            float[] numbers = new float[n];
            in.asFloatBuffer().get(numbers);
            in.position(in.position() + 4 * n);
            return numbers;
        }
        if (element.isInteger()) {
            long[] numbers = new long[n];
            for (int i = 0; i < n; i++) {
                numbers[i] = (Long) scalar(element);
            }
            return numbers;
        }
        Object[] values = new Object[n];
        for (int i = 0; i < n; i++) {
            values[i] = element == GgufType.ARRAY ? value(element).value() : scalar(element);
        }
        return values;
    }

    private Object scalar(GgufType type) {
        return switch (type) {
            case UINT8 -> (long) (in.get() & 0xff);
            case INT8 -> (long) in.get();
            case UINT16 -> (long) (in.getShort() & 0xffff);
            case INT16 -> (long) in.getShort();
            case UINT32 -> in.getInt() & 0xffffffffL;
            case INT32 -> (long) in.getInt();
            case UINT64, INT64 -> in.getLong();
            case FLOAT32 -> in.getFloat();
            case FLOAT64 -> in.getDouble();
            case BOOL -> in.get() != 0;
            case STRING -> string();
            case ARRAY -> throw new IllegalArgumentException("not a scalar");
        };
    }
}
