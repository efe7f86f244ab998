package dev.tenon.platform.chat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;

/// Reads and writes JSON trees, within limits of depth and size.
public final class Json {
    /// Deepest nesting of a document.
    private static final int MOST_DEPTH = 64;

    private static final int LONGEST_NAME = 1000;
    private static final int LONGEST_NUMBER = 100;

    private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MOST_DEPTH)
                            .maxStringLength(Integer.MAX_VALUE)
                            .maxNameLength(LONGEST_NAME)
                            .maxNumberLength(LONGEST_NUMBER)
                            .build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY);

    private Json() {}

    /// {@return a new object}
    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /// {@return a new array}
    public static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    /// {@return the JSON of a tree, without line ends}
    ///
    /// @param node the tree
    public static byte[] bytes(JsonNode node) {
        try {
            return MAPPER.writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// {@return the JSON of a value as text}
    ///
    /// @param value a tree, or maps, lists, strings, numbers, booleans and null
    public static String text(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Reads a document.
    ///
    /// @param bytes the document
    /// @return its tree
    /// @throws IOException if it is not valid JSON, or exceeds a limit
    public static JsonNode read(byte[] bytes) throws IOException {
        return MAPPER.readTree(bytes);
    }

    /// {@return what a value is, in words}
    ///
    /// @param node the value
    public static String kind(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> "an object";
            case ARRAY -> "an array";
            case STRING -> "a string";
            case NUMBER -> "a number";
            case BOOLEAN -> "true or false";
            case NULL -> "null";
            default -> "empty";
        };
    }

    /// Reads a document that a request holds as text.
    ///
    /// @param text the document
    /// @return its tree, or null if it is not valid JSON
    public static JsonNode parse(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    /// {@return the object in a text; null if it is none. Of a key that comes twice the last value counts}
    ///
    /// @param text the text
    public static ObjectNode object(String text) {
        try {
            return MAPPER.reader()
                                    .without(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
                                    .readTree(text)
                            instanceof ObjectNode object
                    ? object
                    : null;
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    /// {@return a tree as maps, lists, strings, numbers, booleans and null, as templates take them}
    ///
    /// @param node the tree
    public static Object plain(JsonNode node) {
        return MAPPER.convertValue(node, Object.class);
    }

    /// {@return the tree of a value}
    ///
    /// @param value maps, lists, strings, numbers, booleans and null
    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }
}
