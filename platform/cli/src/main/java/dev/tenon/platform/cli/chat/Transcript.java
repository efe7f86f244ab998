package dev.tenon.platform.cli.chat;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.platform.cli.options.MediaFile;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A conversation as Markdown: each message below a heading with its role. A line of a message that
/// looks like such a heading has a backslash before it.
final class Transcript {
    private static final Pattern HEADING = Pattern.compile("## (system|user|assistant)");
    private static final Pattern ESCAPED = Pattern.compile("(?m)^(\\\\*## (?:system|user|assistant))$");

    private Transcript() {}

    /// {@return the text of a conversation}
    ///
    /// @param messages its messages
    static String write(List<ChatTurn> messages) {
        StringBuilder text = new StringBuilder();
        for (ChatTurn message : messages) {
            text.append("## ").append(message.role()).append("\n\n");
            text.append(ESCAPED.matcher(MediaFile.marked(message).strip()).replaceAll("\\\\$1"))
                    .append("\n\n");
        }
        return text.toString();
    }

    /// {@return the messages of a text}
    ///
    /// @param text from [#write]
    /// @throws IllegalArgumentException if it does not begin with a heading, or a question has no
    ///     answer
    static List<ChatTurn> read(String text) {
        List<ChatTurn> messages = new ArrayList<>();
        String role = null;
        StringBuilder content = new StringBuilder();
        for (String line : text.lines().toList()) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                add(messages, role, content);
                role = heading.group(1);
            } else if (role == null && !line.isBlank()) {
                throw new IllegalArgumentException("it does not begin with '## system' or '## user'");
            } else {
                boolean escaped = line.startsWith("\\") && ESCAPED.matcher(line).matches();
                content.append(escaped ? line.substring(1) : line).append('\n');
            }
        }
        add(messages, role, content);
        List<String> turns = messages.stream().map(ChatTurn::role).toList();
        int from = !turns.isEmpty() && turns.getFirst().equals("system") ? 1 : 0;
        for (int i = from; i < turns.size() || (turns.size() - from) % 2 == 1; i++) {
            String expected = (i - from) % 2 == 0 ? "user" : "assistant";
            if (i == turns.size() || !turns.get(i).equals(expected)) {
                throw new IllegalArgumentException("message " + (i + 1) + " is not of '" + expected + "'");
            }
        }
        return messages;
    }

    private static void add(List<ChatTurn> messages, String role, StringBuilder content) {
        if (role != null) {
            messages.add(ChatTurn.of(role, content.toString().strip()));
        }
        content.setLength(0);
    }
}
