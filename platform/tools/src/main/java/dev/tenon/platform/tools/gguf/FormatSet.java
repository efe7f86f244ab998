package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.platform.core.gguf.TensorType;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The installed formats by id and by type number; F32 is always there. Immutable and safe for any thread.
final class FormatSet {
    private final Map<String, QuantFormat> byId = new TreeMap<>();
    private final Map<Integer, QuantFormat> byType = new TreeMap<>();

    FormatSet(Collection<? extends QuantFormat> formats) {
        add(PlainF32.INSTANCE);
        formats.forEach(this::add);
    }

    private void add(QuantFormat format) {
        byId.put(format.id().toUpperCase(Locale.ROOT), format);
        byType.put(format.ggmlType(), format);
    }

    /// {@return the type of a format that can be written, else empty}
    Optional<TensorType> writable(String id) {
        return Optional.ofNullable(byId.get(id.toUpperCase(Locale.ROOT)))
                .filter(format -> format.quantizer().isPresent())
                .map(TensorType::of);
    }

    /// {@return the encoder of a type that [#writable(String)] gave}
    Quantizer quantizer(TensorType type) {
        return byId.get(type.name().toUpperCase(Locale.ROOT)).quantizer().orElseThrow();
    }

    /// {@return the format that decodes a tensor type}
    QuantFormat decoder(int ggmlType, String tensor, String file) {
        QuantFormat format = byType.get(ggmlType);
        if (format == null) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_TENSOR_FORMAT,
                    "Tensor " + tensor + " in " + file + " has type " + ggmlType
                            + TensorTypes.standard()
                                    .find(ggmlType)
                                    .map(type -> " (" + type.name() + ")")
                                    .orElse("")
                            + "; installed formats: " + String.join(", ", byId.keySet())
                            + ". Install one that decodes it.");
        }
        return format;
    }

    /// Little-endian float32, used where no bundle offers F32.
    private enum PlainF32 implements QuantFormat, Quantizer {
        INSTANCE;

        private static final ValueLayout.OfFloat FLOAT =
                ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        @Override
        public String id() {
            return "F32";
        }

        @Override
        public int ggmlType() {
            return 0;
        }

        @Override
        public int blockSize() {
            return 1;
        }

        @Override
        public int blockBytes() {
            return Float.BYTES;
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            MemorySegment.copy(source, FLOAT, offsetBytes, target, targetOffset, n);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.of(this);
        }

        @Override
        public void quantize(float[] source, int sourceOffset, MemorySegment target, long offsetBytes, int n) {
            MemorySegment.copy(source, sourceOffset, target, FLOAT, offsetBytes, n);
        }
    }
}
