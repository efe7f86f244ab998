package dev.tenon.platform.chat;

import java.util.List;
import java.util.Map;

/// A conversation, in the form that templates take.
///
/// @param messages the turns, oldest first, with `role` and `content` as strings
/// @param tools the tools as OpenAI describes them; empty for none
/// @param variables further variables of the template, from the request
/// @param enforced what the reply has to be
/// @param continued whether the last message, the assistant's, is continued rather than answered
public record ChatInput(
        List<Map<String, Object>> messages,
        List<Map<String, Object>> tools,
        Map<String, Object> variables,
        Enforced enforced,
        boolean continued) {}
