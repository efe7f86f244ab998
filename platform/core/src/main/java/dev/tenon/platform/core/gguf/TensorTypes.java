package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.quant.QuantFormat;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The tensor types whose sizes are known: those of ggml, and those of installed formats.
///
/// Knowing a type's size is enough to open a file; decoding it takes an installed [QuantFormat].
/// Immutable and safe for any thread.
public final class TensorTypes {
    /// I8, I16, I32, I64.
    private static final int FIRST_WHOLE = 24;

    private static final int LAST_WHOLE = 27;

    private static final TensorTypes STANDARD = new TensorTypes(standardTable());

    private final Map<Integer, TensorType> types;

    private TensorTypes(Map<Integer, TensorType> types) {
        this.types = Collections.unmodifiableMap(types);
    }

    /// {@return whether a type is of whole numbers, such as indices, that no weight is made of}
    ///
    /// @param type its number
    public static boolean isWhole(int type) {
        return type >= FIRST_WHOLE && type <= LAST_WHOLE;
    }

    /// {@return the types that ggml defines}
    public static TensorTypes standard() {
        return STANDARD;
    }

    /// {@return the types that ggml defines and those of the given formats}
    ///
    /// @param formats installed formats; one with a number of ggml's must have the same block size and
    ///     bytes
    /// @throws TenonException (`CFG-002`) if a format contradicts another one, or ggml, on a type number
    public static TensorTypes of(Collection<? extends QuantFormat> formats) {
        Map<Integer, TensorType> all = standardTable();
        for (QuantFormat format : formats) {
            TensorType added = TensorType.of(format);
            TensorType known = all.putIfAbsent(added.number(), added);
            if (known != null && !known.equals(added)) {
                throw new TenonException(
                        ErrorCode.DUPLICATE_ID,
                        "Format " + describe(added) + " claims tensor type number " + added.number()
                                + ", which belongs to " + describe(known)
                                + ". Remove one of the two, or give the new format another number.");
            }
        }
        return new TensorTypes(all);
    }

    /// {@return the type of a number}
    ///
    /// @param number tensor type number
    public Optional<TensorType> find(int number) {
        return Optional.ofNullable(types.get(number));
    }

    /// {@return the type of a name, upper or lower case}
    ///
    /// @param name such as `Q4_K`
    public Optional<TensorType> find(String name) {
        return types.values().stream()
                .filter(type -> type.name().equalsIgnoreCase(name))
                .findFirst();
    }

    /// {@return the type of a number that must be known}
    ///
    /// @param number tensor type number
    /// @param tensor what the error message calls the tensor
    /// @param file what the error message calls the file
    /// @throws UnsupportedModelException (`GGUF-009`) if it is not known
    public TensorType require(int number, String tensor, String file) {
        TensorType type = types.get(number);
        if (type == null) {
            String retired = retired(number);
            throw new UnsupportedModelException(
                    ErrorCode.GGUF_TENSOR_TYPE,
                    "Tensor " + tensor + " in " + file + " has type " + Integer.toUnsignedString(number)
                            + (retired == null
                                    ? ", which no installed format decodes. Install a bundle that offers the"
                                            + " format, or use another file."
                                    : " (" + retired + "), which ggml has withdrawn. Get the model in a format of"
                                            + " today, such as Q4_0."));
        }
        return type;
    }

    /// {@return all types by number, ascending; unmodifiable}
    public Map<Integer, TensorType> all() {
        return types;
    }

    private static String describe(TensorType type) {
        return type.name() + " (" + type.blockSize() + " elements in " + type.blockBytes() + " bytes)";
    }

    private static String retired(int number) {
        return switch (number) {
            case 4 -> "Q4_2";
            case 5 -> "Q4_3";
            case 31 -> "Q4_0_4_4";
            case 32 -> "Q4_0_4_8";
            case 33 -> "Q4_0_8_8";
            case 36 -> "IQ4_NL_4_4";
            case 37 -> "IQ4_NL_4_8";
            case 38 -> "IQ4_NL_8_8";
            default -> null;
        };
    }

    private static Map<Integer, TensorType> standardTable() {
        Map<Integer, TensorType> table = new TreeMap<>();
        put(table, 0, "F32", 1, 4);
        put(table, 1, "F16", 1, 2);
        put(table, 2, "Q4_0", 32, 18);
        put(table, 3, "Q4_1", 32, 20);
        put(table, 6, "Q5_0", 32, 22);
        put(table, 7, "Q5_1", 32, 24);
        put(table, 8, "Q8_0", 32, 34);
        put(table, 9, "Q8_1", 32, 36);
        put(table, 10, "Q2_K", 256, 84);
        put(table, 11, "Q3_K", 256, 110);
        put(table, 12, "Q4_K", 256, 144);
        put(table, 13, "Q5_K", 256, 176);
        put(table, 14, "Q6_K", 256, 210);
        put(table, 15, "Q8_K", 256, 292);
        put(table, 16, "IQ2_XXS", 256, 66);
        put(table, 17, "IQ2_XS", 256, 74);
        put(table, 18, "IQ3_XXS", 256, 98);
        put(table, 19, "IQ1_S", 256, 50);
        put(table, 20, "IQ4_NL", 32, 18);
        put(table, 21, "IQ3_S", 256, 110);
        put(table, 22, "IQ2_S", 256, 82);
        put(table, 23, "IQ4_XS", 256, 136);
        put(table, 24, "I8", 1, 1);
        put(table, 25, "I16", 1, 2);
        put(table, 26, "I32", 1, 4);
        put(table, 27, "I64", 1, 8);
        put(table, 28, "F64", 1, 8);
        put(table, 29, "IQ1_M", 256, 56);
        put(table, 30, "BF16", 1, 2);
        put(table, 34, "TQ1_0", 256, 54);
        put(table, 35, "TQ2_0", 256, 66);
        put(table, 39, "MXFP4", 32, 17);
        put(table, 40, "NVFP4", 64, 36);
        put(table, 41, "Q1_0", 128, 18);
        return table;
    }

    private static void put(Map<Integer, TensorType> table, int number, String name, int blockSize, int blockBytes) {
        table.put(number, new TensorType(number, name, blockSize, blockBytes));
    }
}
