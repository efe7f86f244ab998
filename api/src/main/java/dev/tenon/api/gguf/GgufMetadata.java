package dev.tenon.api.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The metadata of a GGUF file: an immutable map with typed look-up.
///
/// `required...` look-ups throw [ModelFormatException] with `MODEL-001` when the key is missing;
/// every look-up throws it with `MODEL-002` when the value has another type or is out of range.
/// Safe for any thread.
public final class GgufMetadata {
    private final String source;
    private final Map<String, GgufValue> values;

    private GgufMetadata(String source, Map<String, GgufValue> values) {
        this.source = source;
        this.values = values;
    }

    /// Creates metadata from a map.
    ///
    /// @param source what error messages call the file
    /// @param values keys and values, in file order; copied
    /// @return the metadata
    public static GgufMetadata of(String source, Map<String, GgufValue> values) {
        return new GgufMetadata(source, Collections.unmodifiableMap(new LinkedHashMap<>(values)));
    }

    /// {@return the same metadata, which adds every key that is looked up to a set: so it can be told which keys
    ///     nothing reads. Keys are looked up by all methods here and by `get` and `containsKey` of [#values()];
    ///     going through all of them looks up none}
    ///
    /// @param read receives the keys, also those that are missing, on the threads that look them up
    public GgufMetadata recording(Set<String> read) {
        Map<String, GgufValue> all = values;
        return new GgufMetadata(source, new AbstractMap<>() {
            @Override
            public @Nullable GgufValue get(Object key) {
                read.add((String) key);
                return all.get(key);
            }

            @Override
            public boolean containsKey(Object key) {
                return get(key) != null;
            }

            @Override
            public Set<Map.Entry<String, GgufValue>> entrySet() {
                return all.entrySet();
            }
        });
    }

    /// {@return what error messages call the file}
    public String source() {
        return source;
    }

    /// {@return all keys and values, in file order; unmodifiable}
    public Map<String, GgufValue> values() {
        return values;
    }

    /// {@return whether the key is there, with whatever type}
    ///
    /// @param key metadata key
    public boolean has(String key) {
        return values.containsKey(key);
    }

    /// {@return the text of a key}
    ///
    /// @param key metadata key
    public Optional<String> string(String key) {
        return Optional.ofNullable(find(key, GgufType.STRING, "a string")).map(v -> (String) v.value());
    }

    /// {@return the text of a key that must be there}
    ///
    /// @param key metadata key
    public String requiredString(String key) {
        return string(key).orElseThrow(() -> missing(key));
    }

    /// {@return the integer of a key, of whatever integer type in the file}
    ///
    /// @param key metadata key
    /// @throws ModelFormatException (`MODEL-002`) also if it is negative or larger than 2^31-1
    public OptionalInt integer(String key) {
        GgufValue value = values.get(key);
        if (value == null) {
            return OptionalInt.empty();
        }
        if (!value.type().isInteger()) {
            throw wrongType(key, value, "an integer");
        }
        long number = (Long) value.value();
        if (number < 0 || number > Integer.MAX_VALUE) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_KEY_VALUE,
                    "Metadata key " + key + " in " + source + " is " + number
                            + "; expected 0 to 2147483647. The file is broken: download it again.");
        }
        return OptionalInt.of((int) number);
    }

    /// {@return the integer of a key that must be there}
    ///
    /// @param key metadata key
    public int requiredInteger(String key) {
        return integer(key).orElseThrow(() -> missing(key));
    }

    /// {@return the integer of a key that must be there and lie in a range}
    ///
    /// @param key metadata key
    /// @param min smallest value allowed
    /// @param max largest value allowed
    public int requiredInteger(String key, int min, int max) {
        int number = requiredInteger(key);
        if (number < min || number > max) {
            throw new ModelFormatException(
                    ErrorCode.MODEL_KEY_VALUE,
                    "Metadata key " + key + " in " + source + " is " + number + "; expected " + min + " to " + max
                            + ". The file is broken: download it again.");
        }
        return number;
    }

    /// {@return the floating-point number of a key (float32, float64, or an integer)}
    ///
    /// @param key metadata key
    public OptionalDouble number(String key) {
        GgufValue value = values.get(key);
        if (value == null) {
            return OptionalDouble.empty();
        }
        if (!(value.value() instanceof Number number)) {
            throw wrongType(key, value, "a number");
        }
        return OptionalDouble.of(number.doubleValue());
    }

    /// {@return the floating-point number of a key that must be there}
    ///
    /// @param key metadata key
    public double requiredNumber(String key) {
        return number(key).orElseThrow(() -> missing(key));
    }

    /// {@return the truth value of a key}
    ///
    /// @param key metadata key
    public Optional<Boolean> bool(String key) {
        return Optional.ofNullable(find(key, GgufType.BOOL, "a boolean")).map(v -> (Boolean) v.value());
    }

    /// {@return the strings of a key; the array is shared and must not be changed}
    ///
    /// @param key metadata key
    public Optional<String[]> strings(String key) {
        return array(key, String[].class, "an array of strings");
    }

    /// {@return the integers of a key; the array is shared and must not be changed}
    ///
    /// @param key metadata key
    public Optional<long[]> integers(String key) {
        return array(key, long[].class, "an array of integers");
    }

    /// {@return the float32 numbers of a key; the array is shared and must not be changed}
    ///
    /// @param key metadata key
    public Optional<float[]> floats(String key) {
        return array(key, float[].class, "an array of float32");
    }

    /// {@return the error for a key that is needed and missing (`MODEL-001`)}
    ///
    /// @param key metadata key
    public ModelFormatException missing(String key) {
        return new ModelFormatException(
                ErrorCode.MODEL_KEY_MISSING,
                "Metadata key " + key + " is missing in " + source
                        + ". The file was written by a tool that left it out: convert the model again.");
    }

    private <T> Optional<T> array(String key, Class<T> form, String expected) {
        GgufValue value = values.get(key);
        if (value == null) {
            return Optional.empty();
        }
        if (!form.isInstance(value.value())) {
            throw wrongType(key, value, expected);
        }
        return Optional.of(form.cast(value.value()));
    }

    private @Nullable GgufValue find(String key, GgufType type, String expected) {
        GgufValue value = values.get(key);
        if (value != null && value.type() != type) {
            throw wrongType(key, value, expected);
        }
        return value;
    }

    private ModelFormatException wrongType(String key, GgufValue value, String expected) {
        String found = value.type() == GgufType.ARRAY
                ? "an array of " + value.elementType()
                : value.type().toString();
        return new ModelFormatException(
                ErrorCode.MODEL_KEY_VALUE,
                "Metadata key " + key + " in " + source + " is " + found + "; expected " + expected
                        + ". The file is broken: download it again.");
    }
}
