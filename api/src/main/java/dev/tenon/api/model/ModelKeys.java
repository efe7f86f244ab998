package dev.tenon.api.model;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import java.util.Arrays;
import java.util.Objects;

/// The keys of a file that belong to its architecture: `ssm.state_size` is looked up as
/// `ARCH.ssm.state_size`, with `ARCH` the value of `general.architecture`. Every number has a range.
///
/// All look-ups throw [ModelFormatException]: `MODEL-001` for a key that is needed and missing, `MODEL-002`
/// for a value of another type or outside of its range. Immutable.
public final class ModelKeys {
    private final ModelSource source;
    private final GgufMetadata meta;
    private final String architecture;

    private ModelKeys(ModelSource source) {
        this.source = Objects.requireNonNull(source, "source");
        this.meta = source.metadata();
        this.architecture = meta.requiredString("general.architecture");
    }

    /// {@return the keys of a file}
    ///
    /// @param source the file's metadata and tensor descriptions
    public static ModelKeys of(ModelSource source) {
        return new ModelKeys(source);
    }

    /// {@return the file's metadata and tensor descriptions}
    public ModelSource source() {
        return source;
    }

    /// {@return `general.architecture`}
    public String architecture() {
        return architecture;
    }

    /// {@return the name of a key in the file}
    ///
    /// @param key without the architecture, such as `block_count`
    public String nameOf(String key) {
        return architecture + "." + key;
    }

    /// {@return whether a key is there, with whatever type}
    ///
    /// @param key without the architecture
    public boolean has(String key) {
        return meta.has(nameOf(key));
    }

    /// {@return an integer that must be there}
    ///
    /// @param key without the architecture
    /// @param min smallest value allowed
    /// @param max largest value allowed
    public int integer(String key, int min, int max) {
        return meta.requiredInteger(nameOf(key), min, max);
    }

    /// {@return an integer, or a default if the key is missing}
    ///
    /// @param key without the architecture
    /// @param otherwise the default
    /// @param min smallest value allowed in the file
    /// @param max largest value allowed in the file
    public int integerOr(String key, int otherwise, int min, int max) {
        return has(key) ? integer(key, min, max) : otherwise;
    }

    /// {@return a number that must be there; NaN is in no range}
    ///
    /// @param key without the architecture
    /// @param min smallest value allowed
    /// @param max largest value allowed
    public float number(String key, double min, double max) {
        double found = meta.requiredNumber(nameOf(key));
        if (found >= min && found <= max) {
            return (float) found;
        }
        throw impossible(key, found, min + " to " + max);
    }

    /// {@return a number, or a default if the key is missing}
    ///
    /// @param key without the architecture
    /// @param otherwise the default
    /// @param min smallest value allowed in the file
    /// @param max largest value allowed in the file
    public float numberOr(String key, float otherwise, double min, double max) {
        return has(key) ? number(key, min, max) : otherwise;
    }

    /// {@return a truth value, or a default if the key is missing}
    ///
    /// @param key without the architecture
    /// @param otherwise the default
    public boolean flag(String key, boolean otherwise) {
        return meta.bool(nameOf(key)).orElse(otherwise);
    }

    /// {@return a text, or a default if the key is missing}
    ///
    /// @param key without the architecture
    /// @param otherwise the default
    public String text(String key, String otherwise) {
        return meta.string(nameOf(key)).orElse(otherwise);
    }

    /// {@return whether the key holds an array}
    ///
    /// @param key without the architecture
    public boolean isArray(String key) {
        return has(key) && !(meta.values().get(nameOf(key)).value() instanceof Number);
    }

    /// {@return the integer of each layer, of a key that must be there and holds one for all or an array}
    ///
    /// @param key without the architecture
    /// @param layers how many are wanted; the array may be longer
    /// @param min smallest value allowed
    /// @param max largest value allowed
    public int[] perLayer(String key, int layers, int min, int max) {
        int[] numbers = new int[layers];
        if (!isArray(key)) {
            Arrays.fill(numbers, integer(key, min, max));
            return numbers;
        }
        long[] found = meta.integers(nameOf(key)).orElseThrow();
        if (found.length < layers) {
            throw impossible(key, found.length + " numbers", "one for each of " + layers + " layers");
        }
        for (int i = 0; i < layers; i++) {
            if (found[i] < min || found[i] > max) {
                throw impossible(key, found[i] + " for layer " + i, min + " to " + max);
            }
            numbers[i] = (int) found[i];
        }
        return numbers;
    }

    /// {@return the number of each layer, of a key that must be there and holds one for all or an array; NaN is in no
    ///     range}
    ///
    /// @param key without the architecture
    /// @param layers how many are wanted; the array may be longer
    /// @param min smallest value allowed
    /// @param max largest value allowed
    public float[] numberPerLayer(String key, int layers, double min, double max) {
        float[] numbers = new float[layers];
        if (!isArray(key)) {
            Arrays.fill(numbers, number(key, min, max));
            return numbers;
        }
        if (!(meta.values().get(nameOf(key)).value() instanceof float[] found) || found.length < layers) {
            throw impossible(
                    key, meta.values().get(nameOf(key)).type(), "numbers, one for each of " + layers + " layers");
        }
        for (int i = 0; i < layers; i++) {
            if (!(found[i] >= min && found[i] <= max)) {
                throw impossible(key, found[i] + " for layer " + i, min + " to " + max);
            }
            numbers[i] = found[i];
        }
        return numbers;
    }

    /// {@return the truth value of each layer, of a key that must be there and holds an array of them, or of 0 and 1}
    ///
    /// @param key without the architecture
    /// @param layers how many are wanted; the array may be longer
    public boolean[] flagPerLayer(String key, int layers) {
        GgufValue value = meta.values().get(nameOf(key));
        if (value == null) {
            throw meta.missing(nameOf(key));
        }
        if (value.value() instanceof long[]) {
            int[] numbers = perLayer(key, layers, 0, 1);
            boolean[] truths = new boolean[layers];
            for (int i = 0; i < layers; i++) {
                truths[i] = numbers[i] == 1;
            }
            return truths;
        }
        if (!(value.value() instanceof boolean[] flags)) {
            throw impossible(key, value.type(), "an array of booleans");
        }
        if (flags.length < layers) {
            throw impossible(key, flags.length + " truth values", "one for each of " + layers + " layers");
        }
        return Arrays.copyOf(flags, layers);
    }

    /// The error for two keys of which one must be there, and neither is (`MODEL-001`).
    ModelFormatException missing(String key, String other) {
        return meta.missing(nameOf(key) + " (or " + nameOf(other) + ")");
    }

    /// {@return the error for a value that cannot be (`MODEL-002`)}
    ///
    /// @param key without the architecture
    /// @param found what the file says
    /// @param expected what it could be
    public ModelFormatException impossible(String key, Object found, String expected) {
        return new ModelFormatException(
                ErrorCode.MODEL_KEY_VALUE,
                nameOf(key) + " in " + meta.source() + " is " + found + "; expected " + expected
                        + ". The file is broken: download it again.");
    }

    /// {@return the error for a value that is possible, and that the architecture does not implement (`MODEL-003`)}
    ///
    /// @param key without the architecture
    /// @param found what the file says
    /// @param implemented what would work
    public UnsupportedModelException unsupported(String key, Object found, String implemented) {
        return new UnsupportedModelException(
                ErrorCode.MODEL_ARCHITECTURE,
                "Metadata key " + nameOf(key) + " in " + meta.source() + " is " + found + "; implemented: "
                        + implemented);
    }
}
