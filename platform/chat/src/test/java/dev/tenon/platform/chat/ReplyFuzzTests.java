package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// Replies in all forms, right ones and broken ones, in random pieces. `-Dtenon.fuzz.replies` says how many.
class ReplyFuzzTests {
    private static final int REPLIES = Integer.getInteger("tenon.fuzz.replies", 10_000);

    /// What a reply becomes: parts of one kind are joined.
    private static final class Parts implements ReplySink {
        private final List<String> all = new ArrayList<>();
        private final StringBuilder characters = new StringBuilder();
        private final Map<Integer, String> calls = new TreeMap<>();

        private void add(String kind, String text) {
            assertTrue(!text.isEmpty(), kind);
            boolean joined = !all.isEmpty() && all.getLast().startsWith(kind);
            all.add(joined ? all.removeLast() + text : kind + text);
        }

        @Override
        public void reasoning(String text) {
            add("reasoning:", text);
            characters.append(text);
        }

        @Override
        public void content(String text) {
            add("content:", text);
            characters.append(text);
        }

        @Override
        public void call(int index, String id, String name) {
            all.add("call " + index + " " + name);
            assertEquals(null, calls.put(index, ""));
        }

        @Override
        public void arguments(int index, String json) {
            add("arguments " + index + ":", json);
            calls.merge(index, json, String::concat);
        }

        @Override
        public void uncalled(int index) {
            all.add("uncalled " + index);
            assertNotNull(calls.remove(index));
        }

        @Override
        public void written(String text) {
            assertTrue(!text.isEmpty());
            characters.append(text);
        }
    }

    private static Parts parse(RandomReply made, String prompt, String reply, boolean whole) {
        Parts parts = new Parts();
        TemplateFormat format = new TemplateFormat(new ReplyFormat(made.format.calls(), Reasoning.THINK), true, true);
        ReplyParser parser = ReplyParser.of(format, prompt, made.tools, parts);
        for (int at = 0; at < reply.length(); ) {
            int from = at;
            String mark = made.marks().stream()
                    .filter(each -> parser.isMark(each) && reply.startsWith(each, from))
                    .findFirst()
                    .orElse("");
            if (!whole && !mark.isEmpty() && made.random.nextBoolean()) {
                parser.marker(mark);
                at += mark.length();
            } else {
                int end = whole ? reply.length() : Math.min(reply.length(), at + 1 + made.random.nextInt(9));
                parser.text(reply.substring(at, end));
                at = end;
            }
        }
        parser.finish();
        assertEquals(parts.calls.size(), parser.calls(), "whole calls");
        return parts;
    }

    /// {@return how often each blank is in a text}
    private static Map<Integer, Integer> blanks(CharSequence text) {
        Map<Integer, Integer> blanks = new HashMap<>();
        text.chars().filter(Character::isWhitespace).forEach(each -> blanks.merge(each, 1, Integer::sum));
        return blanks;
    }

    private static String inked(CharSequence text) {
        StringBuilder inked = new StringBuilder();
        text.chars().filter(each -> !Character.isWhitespace(each)).forEach(each -> inked.append((char) each));
        return inked.toString();
    }

    @Test
    void piecesChangeNothingAndNoCharacterIsLost() {
        int calls = 0;
        for (long seed = 0; seed < REPLIES; seed++) {
            RandomReply made = new RandomReply(seed);
            String prompt = made.any(List.of("", "<|start|>assistant", "<think>\n"));
            String reply = made.reply();
            try {
                Parts whole = parse(made, prompt, reply, true);
                Parts pieces = parse(made, prompt, reply, false);
                assertEquals(whole.all, pieces.all, "in pieces");
                // Blanks before calls may come after them.
                assertEquals(inked(reply), inked(whole.characters));
                assertEquals(blanks(reply), blanks(whole.characters));
                assertEquals(blanks(reply), blanks(pieces.characters));
                whole.calls.forEach((index, json) -> assertNotNull(Json.object(json), () -> index + ": " + json));
                calls += whole.calls.size();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "seed " + seed + ", " + made.format + ", prompt '" + prompt + "', reply:\n" + reply, e);
            }
        }
        assertTrue(calls > REPLIES / 2, calls + " calls");
    }
}
