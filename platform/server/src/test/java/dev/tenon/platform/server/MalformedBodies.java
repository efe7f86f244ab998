package dev.tenon.platform.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;

/// Makes bodies that are wrong out of a right one.
final class MalformedBodies {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int DEEP = 100;
    private static final List<String> VALUES = List.of(
            "true",
            "-1",
            "1.5",
            "1e999",
            "99999999999999999999999999",
            "\"\"",
            "\"text\"",
            "\"\\u0000\\ud800\"",
            "[]",
            "[[]]",
            "[null]",
            "[{}]",
            "{}",
            "{\"type\":1}",
            "{\"a\":{\"b\":[1,{\"c\":null}]}}");

    private final RandomGenerator random;
    private final String right;

    /// @param random decides
    /// @param right a JSON object
    MalformedBodies(RandomGenerator random, String right) {
        this.random = random;
        this.right = right;
    }

    /// {@return bytes that are no JSON object within the limits}
    byte[] unreadable() {
        byte[] bytes = bytes(right, StandardCharsets.UTF_8);
        int at = random.nextInt(bytes.length);
        return switch (random.nextInt(12)) {
            case 0 -> Arrays.copyOf(bytes, at);
            case 1 -> bytes(right + (random.nextBoolean() ? "}" : "{}"), StandardCharsets.UTF_8);
            case 2 -> bytes("[" + right + "]", StandardCharsets.UTF_8);
            case 3 -> bytes("[".repeat(DEEP) + right + "]".repeat(DEEP), StandardCharsets.UTF_8);
            case 4 ->
                bytes(
                        right.replaceFirst("\\{", "{\"a\":" + "{\"b\":".repeat(DEEP) + "1" + "}".repeat(DEEP) + ","),
                        StandardCharsets.UTF_8);
            case 5 -> twice();
            case 6 ->
                bytes(
                        right.replaceFirst(
                                "\"",
                                Matcher.quoteReplacement(
                                        List.of("'", "", "\\", "\u0001\"").get(random.nextInt(4)))),
                        StandardCharsets.UTF_8);
            case 7 -> with(bytes, bytes.length - 2, 0xC3, 0x28, 0xFF);
            case 8 ->
                bytes(
                        right.replaceFirst(
                                ":",
                                List.of("=", " ", ":NaN,", ":01,", ":tru,", "::")
                                        .get(random.nextInt(6))),
                        StandardCharsets.UTF_8);
            case 9 ->
                bytes(right, Charset.forName("UTF-32LE")).length % 8 == 0
                        ? with(bytes(right, Charset.forName("UTF-32LE")), 8, 0xFF, 0xFF, 0xFF, 0x7F)
                        : with(bytes(right, Charset.forName("UTF-32LE")), 4, 0xFF, 0xFF, 0xFF, 0x7F);
            case 10 ->
                bytes(
                        List.of("", " ", "null", "true", "12", "\"text\"", "\uFEFF")
                                .get(random.nextInt(7)),
                        StandardCharsets.UTF_8);
            default -> bytes("{\"" + "n".repeat(2000) + "\":" + "1".repeat(2000) + "}", StandardCharsets.UTF_8);
        };
    }

    private static byte[] bytes(String text, Charset charset) {
        return text.getBytes(charset);
    }

    private static byte[] with(byte[] bytes, int at, int... more) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(bytes, 0, at);
        for (int each : more) {
            out.write(each);
        }
        out.write(bytes, at, bytes.length - at);
        return out.toByteArray();
    }

    /// A field of some object comes twice.
    private byte[] twice() {
        JsonNode tree = tree();
        List<ObjectNode> objects = new ArrayList<>();
        collect(tree, objects);
        ObjectNode object = objects.get(random.nextInt(objects.size()));
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        String name = names.get(random.nextInt(names.size()));
        String text = object.toString();
        String again = "{\"" + name + "\":" + object.get(name) + "," + text.substring(1);
        return tree.toString().replace(text, again).getBytes(StandardCharsets.UTF_8);
    }

    /// {@return a JSON object in which a value is of another type or kind}
    byte[] misused() {
        JsonNode tree = tree();
        List<ObjectNode> objects = new ArrayList<>();
        collect(tree, objects);
        ObjectNode object = objects.get(random.nextInt(objects.size()));
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        String name = names.get(random.nextInt(names.size()));
        try {
            JsonNode value = MAPPER.readTree(VALUES.get(random.nextInt(VALUES.size())));
            if (object.get(name) instanceof ArrayNode array && random.nextBoolean()) {
                array.insert(random.nextInt(array.size() + 1), value);
            } else {
                object.set(name, value);
            }
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
        return tree.toString().getBytes(StandardCharsets.UTF_8);
    }

    private JsonNode tree() {
        return ServerFixture.json(right);
    }

    /// All objects that have fields.
    private static void collect(JsonNode node, List<ObjectNode> objects) {
        if (node instanceof ObjectNode object && !object.isEmpty()) {
            objects.add(object);
        }
        node.forEach(child -> collect(child, objects));
    }
}
