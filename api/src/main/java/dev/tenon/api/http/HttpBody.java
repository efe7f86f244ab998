package dev.tenon.api.http;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The JSON object of a request. What does not fit is refused by its name.
///
/// @param values maps with texts as keys, lists, strings, numbers and booleans; fields that were
///     null are not there
public record HttpBody(Map<String, Object> values) {
    /// {@return the text of a field, or null}
    ///
    /// @param name its name
    /// @throws RequestException (400) if it is no string
    public @Nullable String text(String name) {
        Object value = values.get(name);
        if (value != null && !(value instanceof String)) {
            throw wrong(name, "a string");
        }
        return (@Nullable String) value;
    }

    /// {@return the text of a field that has to be there}
    ///
    /// @param name its name
    /// @throws RequestException (400) if it is not, or is no string
    public String requiredText(String name) {
        String text = text(name);
        if (text == null) {
            throw RequestException.tooMuch(name, "missing_required_parameter", name + " is missing.");
        }
        return text;
    }

    /// {@return whether a field is true}
    ///
    /// @param name its name
    /// @param otherwise what it is where it is absent
    /// @throws RequestException (400) if it is neither true nor false
    public boolean flag(String name, boolean otherwise) {
        return switch (values.get(name)) {
            case null -> otherwise;
            case Boolean flag -> flag;
            default -> throw wrong(name, "true or false");
        };
    }

    /// {@return the number of a field}
    ///
    /// @param name its name
    /// @param least smallest allowed value
    /// @param most largest allowed value
    /// @param otherwise what it is where it is absent
    /// @throws RequestException (400) if it is none between these
    public double number(String name, double least, double most, double otherwise) {
        Object value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof Number number) || !(number.doubleValue() >= least && number.doubleValue() <= most)) {
            throw wrong(name, "a number from " + least + " to " + most);
        }
        return number.doubleValue();
    }

    /// {@return the whole number of a field}
    ///
    /// @param name its name
    /// @param least smallest allowed value
    /// @param most largest allowed value
    /// @param otherwise what it is where it is absent
    /// @throws RequestException (400) if it is none between these
    public long whole(String name, long least, long most, long otherwise) {
        Object value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof Integer || value instanceof Long)
                || ((Number) value).longValue() < least
                || ((Number) value).longValue() > most) {
            throw wrong(name, "a whole number from " + least + " to " + most);
        }
        return ((Number) value).longValue();
    }

    private static RequestException wrong(String name, String expected) {
        return RequestException.invalid(name, name + " has another value than " + expected + ".");
    }
}
