package dev.tenon.platform.chat;

import dev.tenon.api.chat.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/// Makes a reply, and the tools of its request, of a seed.
final class RandomReply {
    private static final List<String> NAMES = List.of("time", "now", "get_x", "a-b", "Ada");
    private static final List<String> SCHEMAS = List.of(
            "{\"type\":\"string\"}",
            "{\"type\":\"integer\"}",
            "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}",
            "{\"type\":\"boolean\"}",
            "{\"type\":[\"object\",\"string\"]}",
            "{\"type\":\"array\"}",
            "{}");
    private static final List<String> KEYS = List.of("zone", "day", "k_1", "x");
    private static final List<String> STRINGS = List.of(
            "", "a", "UTC\n", "\"", "\\", "it's", "</", "<|", "{\"a\": 1}", "\u00e9\ud83d\ude00", "\t", "12", "None");
    private static final List<String> TEXTS = List.of(
            "Hi",
            " ",
            "\n",
            "\n\n",
            "Done.",
            "[1]",
            "{",
            "}",
            "[",
            "]",
            ",",
            ";",
            "(",
            "<",
            ">",
            "\"",
            "'",
            "`",
            "null",
            "{\"x\": 1}",
            "time(",
            "now",
            "a link](b)",
            "\\",
            "\ud83d\ude00",
            ":",
            "=",
            "0");

    final SplittableRandom random;
    final KnownFormat format;
    final List<Map<String, Object>> tools = new ArrayList<>();

    RandomReply(long seed) {
        random = new SplittableRandom(seed);
        format = KnownFormat.values()[(int) (seed % KnownFormat.values().length)];
        for (String name : NAMES.subList(0, random.nextInt(NAMES.size()))) {
            StringBuilder properties = new StringBuilder();
            for (String key : KEYS.subList(0, random.nextInt(KEYS.size() + 1))) {
                properties
                        .append(properties.isEmpty() ? "" : ",")
                        .append('"')
                        .append(key)
                        .append("\":")
                        .append(any(SCHEMAS));
            }
            tools.addAll(ReplyParserTests.tools("{\"name\":\"" + name
                    + "\",\"parameters\":{\"type\":\"object\",\"properties\":{" + properties + "}}}"));
        }
    }

    <T> T any(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private Object value(int depth) {
        return switch (random.nextInt(depth > 2 ? 4 : 6)) {
            case 0 -> random.nextInt(-99, 99);
            case 1 -> random.nextBoolean();
            case 2 -> null;
            case 3 -> any(STRINGS) + any(STRINGS);
            case 4 ->
                random.ints(random.nextInt(3))
                        .mapToObj(each -> value(depth + 1))
                        .toList();
            default -> object(depth + 1);
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> object = new TreeMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            object.put(any(KEYS), value(depth));
        }
        return object;
    }

    private String calls() {
        List<ToolCall> calls = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            calls.add(new ToolCall("", any(NAMES), Json.text(object(0))));
        }
        return CallWriter.write(format.calls(), calls);
    }

    /// {@return marks of the form and of thoughts}
    List<String> marks() {
        List<String> marks = new ArrayList<>(format.calls().marks());
        marks.addAll(List.of("<think>", "</think>"));
        if (format == KnownFormat.CHANNELS) {
            marks.addAll(List.of("<|message|>", "<|end|>", "<|start|>", "<|call|>", "<|channel|>analysis<|message|>"));
        }
        return marks;
    }

    /// {@return a reply: calls, texts and marks, some of them spoilt}
    String reply() {
        StringBuilder reply = new StringBuilder();
        for (int i = random.nextInt(6); i >= 0; i--) {
            switch (random.nextInt(4)) {
                case 0 -> reply.append(any(marks()));
                case 1 -> reply.append(any(TEXTS)).append(any(TEXTS));
                default -> reply.append(calls());
            }
        }
        for (int i = random.nextInt(4); i > 0 && !reply.isEmpty(); i--) {
            int at = random.nextInt(reply.length());
            int end = Math.min(reply.length(), at + random.nextInt(8));
            switch (random.nextInt(4)) {
                case 0 -> reply.delete(at, end);
                case 1 -> reply.insert(at, any(TEXTS));
                case 2 -> reply.insert(at, reply.substring(at, end));
                default -> reply.insert(at, any(marks()));
            }
        }
        return reply.toString();
    }
}
