package dev.tenon.platform.server.fields;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.http.Exchange;
import java.util.ArrayList;
import java.util.List;

/// Reads typed values of an object in a request; what does not fit is refused by its name.
///
/// @param node the object
/// @param path where it is in the body, such as `tools[0].`; empty for the body itself
public record Body(ObjectNode node, String path) {
    /// {@return the body of a request}
    ///
    /// @param node the body
    public static Body of(ObjectNode node) {
        return new Body(node, "");
    }

    /// {@return whether a field is there and not null}
    ///
    /// @param name its name
    public boolean has(String name) {
        return node.hasNonNull(name);
    }

    /// {@return the text of a field, or null}
    ///
    /// @param name its name
    public String text(String name) {
        if (!has(name)) {
            return null;
        }
        if (!node.get(name).isTextual()) {
            throw wrong(name, "a string");
        }
        return node.get(name).asText();
    }

    /// {@return the text of a field that has to be there}
    ///
    /// @param name its name
    public String requiredText(String name) {
        require(name);
        return text(name);
    }

    /// Refuses an object without a field.
    ///
    /// @param name its name
    public void require(String name) {
        if (!has(name)) {
            throw RequestException.tooMuch(path + name, "missing_required_parameter", path + name + " is missing.");
        }
    }

    /// {@return whether a field is true}
    ///
    /// @param name its name
    /// @param otherwise what it is where it is absent
    public boolean flag(String name, boolean otherwise) {
        if (!has(name)) {
            return otherwise;
        }
        if (!node.get(name).isBoolean()) {
            throw wrong(name, "true or false");
        }
        return node.get(name).asBoolean();
    }

    /// {@return the whole number of a field}
    ///
    /// @param name its name
    /// @param least smallest allowed value
    /// @param most largest allowed value
    /// @param otherwise what it is where it is absent
    public long whole(String name, long least, long most, long otherwise) {
        if (!has(name)) {
            return otherwise;
        }
        JsonNode value = node.get(name);
        boolean fits = value.isIntegralNumber()
                && value.canConvertToLong()
                && value.asLong() >= least
                && value.asLong() <= most;
        if (!fits) {
            throw wrong(name, "a whole number from " + least + " to " + most);
        }
        return value.asLong();
    }

    /// {@return the number of a field}
    ///
    /// @param name its name
    /// @param least smallest allowed value
    /// @param most largest allowed value
    /// @param otherwise what it is where it is absent
    public float number(String name, double least, double most, float otherwise) {
        if (!has(name)) {
            return otherwise;
        }
        JsonNode value = node.get(name);
        if (!value.isNumber() || !(value.asDouble() >= least && value.asDouble() <= most)) {
            throw wrong(name, "a number from " + least + " to " + most);
        }
        return (float) value.asDouble();
    }

    /// {@return the object of a field, or null}
    ///
    /// @param name its name
    public Body object(String name) {
        if (!has(name)) {
            return null;
        }
        if (!(node.get(name) instanceof ObjectNode object)) {
            throw wrong(name, "an object");
        }
        return new Body(object, path + name + ".");
    }

    /// {@return the elements of an array of objects; none where it is absent}
    ///
    /// @param name its name
    /// @param most how many there may be
    public List<Body> objects(String name, int most) {
        List<Body> all = new ArrayList<>();
        for (JsonNode element : array(name, most)) {
            String at = name + "[" + all.size() + "]";
            if (!(element instanceof ObjectNode object)) {
                throw wrong(at, element, "an object");
            }
            all.add(new Body(object, path + at + "."));
        }
        return all;
    }

    /// {@return a text, or an array of texts, as a list; none where it is absent}
    ///
    /// @param name its name
    /// @param most how many there may be
    public List<String> texts(String name, int most) {
        if (has(name) && node.get(name).isTextual()) {
            return List.of(node.get(name).asText());
        }
        List<String> all = new ArrayList<>();
        for (JsonNode element : array(name, most)) {
            if (!element.isTextual()) {
                throw wrong(name + "[" + all.size() + "]", element, "a string");
            }
            all.add(element.asText());
        }
        return all;
    }

    /// {@return an array; an empty one where it is absent}
    ///
    /// @param name its name
    /// @param most how many elements it may have
    public ArrayNode array(String name, int most) {
        if (!has(name)) {
            return Json.array();
        }
        if (!(node.get(name) instanceof ArrayNode array)) {
            throw wrong(name, "an array");
        }
        if (array.size() > most) {
            throw RequestException.tooMuch(
                    path + name, "too_many", path + name + " has " + array.size() + " elements; at most " + most + ".");
        }
        return array;
    }

    /// {@return the refusal of a value}
    ///
    /// @param name the field
    /// @param expected what it takes
    public RequestException wrong(String name, String expected) {
        return wrong(name, node.path(name), expected);
    }

    /// {@return the refusal of an element}
    ///
    /// @param name where it is, such as `tools[0]`
    /// @param value the element
    /// @param expected what it should be
    private RequestException wrong(String name, JsonNode value, String expected) {
        String found = value.isContainerNode() ? Json.kind(value) : Exchange.printable(value.toString());
        return RequestException.invalid(
                path + name,
                path + name + (found.isEmpty() ? ":" : " is " + found + ";") + " expected " + expected + ".");
    }
}
