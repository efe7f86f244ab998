package dev.tenon.platform.tools.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// Builds the header of a GGUF file in a growing buffer. Belongs to one thread.
final class GgufEncoder {
    private ByteBuffer out = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

    int size() {
        return out.position();
    }

    ByteBuffer toBuffer() {
        return out.duplicate().flip();
    }

    void putInt(int number) {
        room(4).putInt(number);
    }

    void putLong(long number) {
        room(8).putLong(number);
    }

    void putString(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        room(8 + bytes.length).putLong(bytes.length).put(bytes);
    }

    void putKey(String key, GgufValue value) {
        putString(key);
        putInt(value.type().number());
        try {
            if (value.type() == GgufType.ARRAY) {
                putArray(value);
            } else {
                putScalar(value.type(), value.value());
            }
        } catch (ClassCastException e) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "Metadata key " + key + " has type " + value.type()
                            + (value.elementType() == null ? "" : " of " + value.elementType()) + " and a value of "
                            + value.value().getClass().getSimpleName() + "; they do not match.",
                    e);
        }
    }

    private void putArray(GgufValue array) {
        putInt(array.elementType().number());
        switch (array.value()) {
            case String[] texts -> {
                require(array, GgufType.STRING);
                putLong(texts.length);
                for (String text : texts) {
                    putString(text);
                }
            }
            case long[] numbers -> {
                if (!array.elementType().isInteger()) {
                    throw new ClassCastException("integers as " + array.elementType());
                }
                putLong(numbers.length);
                for (long number : numbers) {
                    putScalar(array.elementType(), number);
                }
            }
            case float[] numbers -> {
                require(array, GgufType.FLOAT32);
                putLong(numbers.length);
                for (float number : numbers) {
                    room(4).putFloat(number);
                }
            }
            case double[] numbers -> {
                require(array, GgufType.FLOAT64);
                putLong(numbers.length);
                for (double number : numbers) {
                    room(8).putDouble(number);
                }
            }
            case boolean[] flags -> {
                require(array, GgufType.BOOL);
                putLong(flags.length);
                for (boolean flag : flags) {
                    room(1).put((byte) (flag ? 1 : 0));
                }
            }
            case Object[] arrays -> {
                require(array, GgufType.ARRAY);
                putLong(arrays.length);
                for (Object inner : arrays) {
                    putArray((GgufValue) inner);
                }
            }
            default -> throw new ClassCastException("array as " + array.value().getClass());
        }
    }

    private static void require(GgufValue array, GgufType type) {
        if (array.elementType() != type) {
            throw new ClassCastException(type + " elements as " + array.elementType());
        }
    }

    private void putScalar(GgufType type, Object value) {
        switch (type) {
            case UINT8, INT8 -> room(1).put(((Long) value).byteValue());
            case UINT16, INT16 -> room(2).putShort(((Long) value).shortValue());
            case UINT32, INT32 -> putInt(((Long) value).intValue());
            case UINT64, INT64 -> putLong((Long) value);
            case FLOAT32 -> room(4).putFloat((Float) value);
            case FLOAT64 -> room(8).putDouble((Double) value);
            case BOOL -> room(1).put((byte) ((Boolean) value ? 1 : 0));
            case STRING -> putString((String) value);
            case ARRAY -> throw new ClassCastException("array as scalar");
        }
    }

    private ByteBuffer room(int bytes) {
        if (out.remaining() < bytes) {
            long wanted = Math.max(2L * out.capacity(), (long) out.position() + bytes);
            if (wanted > Integer.MAX_VALUE - 8) {
                throw new TenonException(ErrorCode.ARGUMENT, "The metadata is larger than 1 GiB; make it smaller.");
            }
            out = ByteBuffer.allocate((int) wanted)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(out.flip());
        }
        return out;
    }
}
