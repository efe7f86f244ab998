package dev.tenon.itest.testkit.models;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A minimal writer of GGUF version 3 files for tests; everything is held in memory.
///
/// It writes what it is told, also nonsense: broken files are what tests need. Not safe for several
/// threads.
public final class TinyGguf {
    private static final int ALIGNMENT = 32;

    private record Tensor(String name, int ggmlType, List<Long> shape, byte[] data) {}

    private final Map<String, GgufValue> metadata = new LinkedHashMap<>();
    private final List<Tensor> tensors = new ArrayList<>();

    /// Starts an empty file.
    public TinyGguf() {}

    /// Sets a metadata value.
    ///
    /// @param key metadata key
    /// @param value the value
    /// @return this
    public TinyGguf put(String key, GgufValue value) {
        metadata.put(key, value);
        return this;
    }

    /// Sets several metadata values.
    ///
    /// @param values keys and values, in order
    /// @return this
    public TinyGguf putAll(Map<String, GgufValue> values) {
        metadata.putAll(values);
        return this;
    }

    /// Adds a tensor.
    ///
    /// @param name tensor name
    /// @param ggmlType type number, [dev.tenon.api.quant.QuantFormat#ggmlType()]
    /// @param shape lengths, the fastest first
    /// @param data the bytes; not copied
    /// @return this
    public TinyGguf tensor(String name, int ggmlType, List<Long> shape, byte[] data) {
        tensors.add(new Tensor(name, ggmlType, List.copyOf(shape), data));
        return this;
    }

    /// Adds all that another file has.
    ///
    /// @param file the file; may be closed afterwards
    /// @return this
    public TinyGguf addAll(GgufFile file) {
        putAll(file.metadata().values());
        for (TensorInfo tensor : file.tensors()) {
            tensor(
                    tensor.name(),
                    tensor.ggmlType(),
                    tensor.shape(),
                    file.data(tensor).toArray(ValueLayout.JAVA_BYTE));
        }
        return this;
    }

    /// {@return the file as bytes}
    public byte[] bytes() {
        Out out = new Out();
        out.bytes("GGUF".getBytes(StandardCharsets.US_ASCII));
        out.integer(3, 4);
        out.integer(tensors.size(), 8);
        out.integer(metadata.size(), 8);
        metadata.forEach((key, value) -> {
            out.text(key);
            out.integer(value.type().number(), 4);
            out.value(value.type(), value.elementType(), value.value());
        });
        long offset = 0;
        for (Tensor tensor : tensors) {
            out.text(tensor.name());
            out.integer(tensor.shape().size(), 4);
            tensor.shape().forEach(length -> out.integer(length, 8));
            out.integer(tensor.ggmlType(), 4);
            out.integer(offset, 8);
            offset += (tensor.data().length + ALIGNMENT - 1L) / ALIGNMENT * ALIGNMENT;
        }
        for (Tensor tensor : tensors) {
            out.align();
            out.bytes(tensor.data());
        }
        out.align();
        return out.stream.toByteArray();
    }

    /// Writes the file.
    ///
    /// @param file where; replaced if it exists
    /// @return `file`
    /// @throws IOException if it cannot be written
    public Path write(Path file) throws IOException {
        return Files.write(file, bytes());
    }

    private static final class Out {
        final ByteArrayOutputStream stream = new ByteArrayOutputStream();

        void bytes(byte[] bytes) {
            stream.write(bytes, 0, bytes.length);
        }

        void align() {
            while (stream.size() % ALIGNMENT != 0) {
                stream.write(0);
            }
        }

        void integer(long number, int bytes) {
            for (int i = 0; i < bytes; i++) {
                stream.write((int) (number >>> 8 * i));
            }
        }

        void text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            integer(utf8.length, 8);
            bytes(utf8);
        }

        void value(GgufType type, GgufType elementType, Object value) {
            switch (type) {
                case UINT8, INT8 -> integer((Long) value, 1);
                case UINT16, INT16 -> integer((Long) value, 2);
                case UINT32, INT32 -> integer((Long) value, 4);
                case UINT64, INT64 -> integer((Long) value, 8);
                case FLOAT32 -> integer(Float.floatToRawIntBits((Float) value), 4);
                case FLOAT64 -> integer(Double.doubleToRawLongBits((Double) value), 8);
                case BOOL -> integer((Boolean) value ? 1 : 0, 1);
                case STRING -> text((String) value);
                case ARRAY -> array(elementType, value);
            }
        }

        void array(GgufType elementType, Object array) {
            List<Object> elements = new ArrayList<>();
            for (int i = 0; i < java.lang.reflect.Array.getLength(array); i++) {
                elements.add(java.lang.reflect.Array.get(array, i));
            }
            if (elementType == GgufType.ARRAY) {
                throw new IllegalArgumentException("nested arrays are not written");
            }
            integer(elementType.number(), 4);
            integer(elements.size(), 8);
            elements.forEach(element -> value(elementType, null, element));
        }
    }

    /// {@return float32 values as little-endian bytes, the data of an F32 tensor}
    ///
    /// @param values the values
    public static byte[] f32(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putFloat(value);
        }
        return buffer.array();
    }
}
