package dev.tenon.api.chat;

import dev.tenon.api.engine.Usage;
import org.osgi.annotation.versioning.ConsumerType;

/// Hears a reply as it is generated, on the thread that generates it. An exception ends the generation
/// and is passed on. A lambda hears the answer's text.
@ConsumerType
@FunctionalInterface
public interface ChatEvents {
    /// Takes text of the answer.
    ///
    /// @param text at least one character
    void text(String text);

    /// Takes text of the reasoning before the answer.
    ///
    /// @param text at least one character
    default void reasoning(String text) {}

    /// Hears that the call of a tool begins.
    ///
    /// @param index number of the call, from 0
    /// @param id what its result will name it by
    /// @param name the tool
    default void callBegins(int index, String id, String name) {}

    /// Takes a piece of the arguments of a call, which is JSON.
    ///
    /// @param index number of the call
    /// @param json at least one character
    default void callArguments(int index, String json) {}

    /// Hears that a call is whole.
    ///
    /// @param index number of the call
    default void callEnds(int index) {}

    /// Hears that a call is none after all: it cannot be read. Its text comes as text of the answer.
    ///
    /// @param index number of the call, which no other call gets
    default void callDropped(int index) {}

    /// Hears the end.
    ///
    /// @param end why; with [ChatEnd#LENGTH] a call may have begun and not ended
    /// @param usage counts and times
    default void ends(ChatEnd end, Usage usage) {}
}
