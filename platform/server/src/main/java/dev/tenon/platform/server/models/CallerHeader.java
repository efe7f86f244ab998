package dev.tenon.platform.server.models;

import dev.tenon.api.chat.ChatTurn;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Removes the line by which a client tells a service about itself at the start of its system message, such as
/// `x-anthropic-billing-header: cc_version=2.1.37; cch=1f3a5;`. Its values change with each request; in the prompt they
/// would keep it from sharing computed tokens with the one before.
final class CallerHeader {
    /// The name of a header of one's own, then pairs that end in semicolons, alone in the line.
    private static final Pattern LINE =
            Pattern.compile("^x-[a-z0-9-]+:(?:[ \\t]*[A-Za-z0-9_.-]+=[^;\\r\\n]*;)+[ \\t]*(?:[\\r\\n]+|$)");

    private CallerHeader() {}

    /// {@return a conversation without such a line at the start of its system message, which leaves if it has no more}
    ///
    /// @param turns the conversation
    static List<ChatTurn> removed(List<ChatTurn> turns) {
        if (turns.isEmpty() || !turns.getFirst().role().equals(ChatTurn.SYSTEM)) {
            return turns;
        }
        String system = turns.getFirst().text();
        String rest = LINE.matcher(system).replaceFirst("");
        if (rest.equals(system)) {
            return turns;
        }
        List<ChatTurn> others = turns.subList(1, turns.size());
        return rest.isEmpty()
                ? others
                : Stream.concat(Stream.of(turns.getFirst().withText(rest)), others.stream())
                        .toList();
    }
}
