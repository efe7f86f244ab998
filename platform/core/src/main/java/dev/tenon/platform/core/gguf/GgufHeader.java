package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// What the header of one GGUF file says.
///
/// @param version GGUF version, 2 or 3
/// @param metadata keys and values, in file order
/// @param tensors tensor descriptions, in file order; offsets count from the start of the file
record GgufHeader(int version, Map<String, GgufValue> metadata, List<TensorInfo> tensors) {
    static final String ALIGNMENT_KEY = "general.alignment";
    static final int DEFAULT_ALIGNMENT = 32;
    /// `GGUF` as a little-endian int.
    static final int MAGIC = 0x46554747;

    private static final int MAX_NESTING = 4;
    private static final int MAX_DIMENSIONS = 4;
    private static final int MAX_ALIGNMENT = 1 << 30;
    /// Most array elements in a header, so that a broken file cannot fill the heap: 64 vocabularies of 256
    /// Ki tokens.
    private static final int MAX_ELEMENTS = 1 << 24;

    /// Reads a header.
    ///
    /// @param file the whole file
    /// @param source what error messages call the file
    /// @param part index of the file in a split set, or 0
    /// @param types the tensor types that are known
    /// @return the header; every tensor's data lies inside the file
    /// @throws ModelFormatException if the file is broken
    /// @throws UnsupportedModelException if its version, byte order or a tensor type is not known
    static GgufHeader read(MemorySegment file, String source, int part, TensorTypes types) {
        return new Parser(file, source, part, types).read();
    }

    private static final class Parser {
        private final String source;
        private final int part;
        private final TensorTypes types;
        private final MemorySegment file;
        private final GgufCursor in;
        private int elements;

        Parser(MemorySegment file, String source, int part, TensorTypes types) {
            this.file = file;
            this.source = source;
            this.part = part;
            this.types = types;
            this.in = new GgufCursor(file, source);
        }

        GgufHeader read() {
            if (in.left() < 4 || in.readInt("magic") != MAGIC) {
                throw NotGguf.error(file, source);
            }
            int version = in.readInt("version");
            checkVersion(version);
            int tensorCount = in.readCount("number of tensors", 8 + 1 + 4 + 8 + 4 + 8);
            int keyCount = in.readCount("number of metadata keys", 8 + 1 + 4 + 1);
            Map<String, GgufValue> metadata = LinkedHashMap.newLinkedHashMap(Math.min(keyCount, 1024));
            for (int i = 0; i < keyCount; i++) {
                in.context("");
                String key = in.readName("metadata key");
                in.context(key);
                GgufValue value = value(key, type(key), 0);
                if (metadata.put(key, value) != null) {
                    throw new ModelFormatException(
                            ErrorCode.GGUF_NAME,
                            "Metadata key " + GgufCursor.show(key) + " appears twice in " + source
                                    + ". The file is broken: download it again.");
                }
            }
            return new GgufHeader(version, metadata, tensors(tensorCount, alignment(metadata)));
        }

        private void checkVersion(int version) {
            if (version == 2 || version == 3) {
                return;
            }
            int swapped = Integer.reverseBytes(version);
            if (swapped > 0 && swapped < 256) {
                throw new UnsupportedModelException(
                        ErrorCode.GGUF_VERSION,
                        source + " is a big-endian GGUF file (version " + swapped
                                + "); only little-endian files are read. Convert it, or get the little-endian file.");
            }
            throw new UnsupportedModelException(
                    ErrorCode.GGUF_VERSION,
                    source + " has GGUF version " + Integer.toUnsignedString(version)
                            + "; versions 2 and 3 are read. Get a newer conversion of the model.");
        }

        private GgufType type(String key) {
            int number = in.readInt("value type");
            return GgufType.of(number)
                    .orElseThrow(() -> new ModelFormatException(
                            ErrorCode.GGUF_HEADER,
                            "Metadata key " + GgufCursor.show(key) + " in " + source + " has value type "
                                    + Integer.toUnsignedString(number) + "; expected 0 to "
                                    + GgufType.FLOAT64.number() + ". The file is broken: download it again."));
        }

        private GgufValue value(String key, GgufType type, int depth) {
            if (type == GgufType.ARRAY) {
                return array(key, depth + 1);
            }
            Object value = switch (type) {
                case UINT8 -> (long) Byte.toUnsignedInt(in.readByte("value"));
                case INT8 -> (long) in.readByte("value");
                case UINT16 -> (long) Short.toUnsignedInt(in.readShort("value"));
                case INT16 -> (long) in.readShort("value");
                case UINT32 -> Integer.toUnsignedLong(in.readInt("value"));
                case INT32 -> (long) in.readInt("value");
                case UINT64, INT64 -> in.readLong("value");
                case FLOAT32 -> in.readFloat("value");
                case FLOAT64 -> in.readDouble("value");
                case BOOL -> in.readByte("value") != 0;
                case STRING -> in.readString("text length");
                case ARRAY -> throw new AssertionError("arrays are read above");
            };
            return new GgufValue(type, null, value);
        }

        private GgufValue array(String key, int depth) {
            if (depth > MAX_NESTING) {
                throw new ModelFormatException(
                        ErrorCode.GGUF_HEADER,
                        "Metadata key " + GgufCursor.show(key) + " in " + source + " nests arrays more than "
                                + MAX_NESTING + " deep. The file is broken: download it again.");
            }
            GgufType type = type(key);
            int n = in.readCount("number of elements", minBytes(type));
            elements += n;
            if (elements > MAX_ELEMENTS || elements < 0) {
                throw new ModelFormatException(
                        ErrorCode.GGUF_HEADER,
                        "The metadata arrays of " + source + " have more than " + MAX_ELEMENTS
                                + " elements in all (up to key " + GgufCursor.show(key)
                                + "). The file is broken: download it again.");
            }
            return new GgufValue(GgufType.ARRAY, type, elements(key, type, n, depth));
        }

        private Object elements(String key, GgufType type, int n, int depth) {
            return switch (type) {
                case STRING -> {
                    String[] texts = new String[n];
                    for (int i = 0; i < n; i++) {
                        texts[i] = in.readString("text length");
                    }
                    yield texts;
                }
                case ARRAY -> {
                    Object[] arrays = new Object[n];
                    for (int i = 0; i < n; i++) {
                        arrays[i] = array(key, depth + 1);
                    }
                    yield arrays;
                }
                case FLOAT32 -> {
                    float[] numbers = new float[n];
                    MemorySegment.copy(file, GgufCursor.FLOAT, in.advance(4L * n, "elements"), numbers, 0, n);
                    yield numbers;
                }
                case FLOAT64 -> {
                    double[] numbers = new double[n];
                    MemorySegment.copy(file, GgufCursor.DOUBLE, in.advance(8L * n, "elements"), numbers, 0, n);
                    yield numbers;
                }
                case BOOL -> {
                    boolean[] flags = new boolean[n];
                    long at = in.advance(n, "elements");
                    for (int i = 0; i < n; i++) {
                        flags[i] = file.get(ValueLayout.JAVA_BYTE, at + i) != 0;
                    }
                    yield flags;
                }
                case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> integers(key, type, n);
            };
        }

        private long[] integers(String key, GgufType type, int n) {
            long at = in.advance((long) n * minBytes(type), "elements");
            long[] numbers = new long[n];
            if (type == GgufType.INT32 || type == GgufType.UINT32) {
                // What vocabularies have; a copy first, as element by element is slow before it is compiled.
                int[] copy = new int[n];
                MemorySegment.copy(file, GgufCursor.INT, at, copy, 0, n);
                long mask = type == GgufType.UINT32 ? 0xFFFF_FFFFL : -1;
                for (int i = 0; i < n; i++) {
                    numbers[i] = copy[i] & mask;
                }
                return numbers;
            }
            for (int i = 0; i < n; i++) {
                numbers[i] = switch (type) {
                    case UINT8 -> Byte.toUnsignedInt(file.get(ValueLayout.JAVA_BYTE, at + i));
                    case INT8 -> file.get(ValueLayout.JAVA_BYTE, at + i);
                    case UINT16 -> Short.toUnsignedInt(file.get(GgufCursor.SHORT, at + 2L * i));
                    case INT16 -> file.get(GgufCursor.SHORT, at + 2L * i);
                    default -> file.get(GgufCursor.LONG, at + 8L * i);
                };
            }
            return numbers;
        }

        private static int minBytes(GgufType type) {
            return switch (type) {
                case UINT8, INT8, BOOL -> 1;
                case UINT16, INT16 -> 2;
                case UINT32, INT32, FLOAT32 -> 4;
                case UINT64, INT64, FLOAT64, STRING -> 8;
                case ARRAY -> 12;
            };
        }

        private int alignment(Map<String, GgufValue> metadata) {
            GgufValue value = metadata.get(ALIGNMENT_KEY);
            if (value == null) {
                return DEFAULT_ALIGNMENT;
            }
            if (!value.type().isInteger()) {
                throw new ModelFormatException(
                        ErrorCode.GGUF_HEADER,
                        "Metadata key " + ALIGNMENT_KEY + " in " + source + " is a value of type " + value.type()
                                + "; expected an integer. The file is broken: download it again.");
            }
            long alignment = (Long) value.value();
            if (alignment < 1 || alignment > MAX_ALIGNMENT || Long.bitCount(alignment) != 1) {
                throw new ModelFormatException(
                        ErrorCode.GGUF_HEADER,
                        "Metadata key " + ALIGNMENT_KEY + " in " + source + " is " + alignment
                                + "; expected a power of two up to " + MAX_ALIGNMENT
                                + ". The file is broken: download it again.");
            }
            return (int) alignment;
        }

        private List<TensorInfo> tensors(int count, int alignment) {
            List<TensorInfo> relative = new ArrayList<>(Math.min(count, 4096));
            Set<String> names = HashSet.newHashSet(Math.min(count, 4096));
            for (int i = 0; i < count; i++) {
                TensorInfo tensor = tensor(alignment);
                if (!names.add(tensor.name())) {
                    throw new ModelFormatException(
                            ErrorCode.GGUF_NAME,
                            "Tensor " + GgufCursor.show(tensor.name()) + " appears twice in " + source
                                    + ". The file is broken: download it again.");
                }
                relative.add(tensor);
            }
            long dataStart = Math.ceilDiv(in.position(), (long) alignment) * alignment;
            List<TensorInfo> tensors = new ArrayList<>(relative.size());
            for (TensorInfo t : relative) {
                long room = file.byteSize() - dataStart;
                if (t.offsetBytes() > room || t.sizeBytes() > room - t.offsetBytes()) {
                    throw new ModelFormatException(
                            ErrorCode.GGUF_OFFSET,
                            "Tensor " + GgufCursor.show(t.name()) + " in " + source + " needs " + t.sizeBytes()
                                    + " bytes at offset "
                                    + t.offsetBytes() + " of the data, which starts at byte " + dataStart
                                    + "; the file ends at byte " + file.byteSize()
                                    + ". It was cut short: download or copy it again.");
                }
                tensors.add(new TensorInfo(
                        t.name(), t.ggmlType(), t.shape(), part, dataStart + t.offsetBytes(), t.sizeBytes()));
            }
            checkOverlaps(tensors);
            return tensors;
        }

        private void checkOverlaps(List<TensorInfo> tensors) {
            if (firstOverlap(tensors) == 0) {
                return; // as in most files: one after the other
            }
            List<TensorInfo> sorted = new ArrayList<>(tensors);
            sorted.sort(Comparator.comparingLong(TensorInfo::offsetBytes));
            int overlap = firstOverlap(sorted);
            if (overlap > 0) {
                TensorInfo before = sorted.get(overlap - 1);
                throw new ModelFormatException(
                        ErrorCode.GGUF_OFFSET,
                        "Tensor " + GgufCursor.show(sorted.get(overlap).name()) + " in " + source + " begins at byte "
                                + sorted.get(overlap).offsetBytes() + ", within tensor "
                                + GgufCursor.show(before.name()) + ", which ends at byte "
                                + (before.offsetBytes() + before.sizeBytes())
                                + ". The file is broken: download it again.");
            }
        }

        /// {@return index of the first tensor that begins before the end of the one before it; 0 if none does}
        private static int firstOverlap(List<TensorInfo> tensors) {
            long end = 0;
            for (int i = 0; i < tensors.size(); i++) {
                if (tensors.get(i).offsetBytes() < end) {
                    return i;
                }
                end = tensors.get(i).offsetBytes() + tensors.get(i).sizeBytes();
            }
            return 0;
        }

        private TensorInfo tensor(int alignment) {
            in.context("");
            String name = in.readName("tensor name");
            in.context(name);
            int dimensions = in.readInt("number of dimensions");
            if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
                throw shape(
                        name,
                        "has " + Integer.toUnsignedString(dimensions) + " dimensions; expected 1 to " + MAX_DIMENSIONS);
            }
            List<Long> shape = new ArrayList<>(dimensions);
            long elements = 1;
            for (int i = 0; i < dimensions; i++) {
                long length = in.readLong("shape");
                if (length < 1) {
                    throw shape(
                            name,
                            "has length " + Long.toUnsignedString(length) + " in dimension " + i
                                    + "; expected 1 to 2^63-1");
                }
                shape.add(length);
                if (Math.multiplyHigh(elements, length) != 0 || elements * length < 0) {
                    throw shape(name, "has the shape " + shape + " so far, more than 2^63-1 elements");
                }
                elements *= length;
            }
            TensorType type = types.require(in.readInt("tensor type"), GgufCursor.show(name), source);
            long offset = in.readLong("data offset");
            if (shape.getFirst() % type.blockSize() != 0) {
                throw shape(
                        name,
                        "has rows of " + shape.getFirst() + " elements, which are not whole " + type.name()
                                + " blocks of " + type.blockSize());
            }
            long blocks = elements / type.blockSize();
            if (blocks > Long.MAX_VALUE / type.blockBytes()) {
                throw shape(name, "has the shape " + shape + " in " + type.name() + ", more than 2^63-1 bytes");
            }
            if (offset < 0 || offset % alignment != 0) {
                throw new ModelFormatException(
                        ErrorCode.GGUF_OFFSET,
                        "Tensor " + GgufCursor.show(name) + " in " + source + " starts at offset "
                                + Long.toUnsignedString(offset)
                                + ", which is not a multiple of the alignment " + alignment
                                + ". The file is broken: download it again.");
            }
            return new TensorInfo(name, type.number(), shape, part, offset, blocks * type.blockBytes());
        }

        private ModelFormatException shape(String name, String found) {
            return new ModelFormatException(
                    ErrorCode.GGUF_SHAPE,
                    "Tensor " + GgufCursor.show(name) + " in " + source + " " + found
                            + ". The file is broken: download it again.");
        }
    }
}
