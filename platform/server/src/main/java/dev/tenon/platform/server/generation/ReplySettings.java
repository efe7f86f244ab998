package dev.tenon.platform.server.generation;

import dev.tenon.platform.server.fields.Body;
import java.util.List;

/// What a request asks of its replies, besides the prompt.
///
/// @param body has the fields of sampling
/// @param choices how many replies
/// @param maxTokens most tokens of a reply; -1 until the context is full
/// @param stop texts that end a reply
/// @param logProbabilities how many of the most probable tokens come with each; -1 for no log-probabilities
/// @param ignoreEnd whether to go on after tokens that end a text
/// @param priority higher goes first
public record ReplySettings(
        Body body,
        int choices,
        int maxTokens,
        List<String> stop,
        int logProbabilities,
        boolean ignoreEnd,
        int priority) {}
