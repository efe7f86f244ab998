package dev.tenon.platform.chat;

/// Takes a reply in parts, as it is generated.
public interface ReplySink {
    /// Takes text of the reasoning before the answer.
    ///
    /// @param text at least one character
    void reasoning(String text);

    /// Takes text of the answer.
    ///
    /// @param text at least one character
    void content(String text);

    /// Hears that the call of a tool begins.
    ///
    /// @param index number of the call, from 0
    /// @param id an id for it
    /// @param name the tool
    void call(int index, String id, String name);

    /// Takes a piece of the arguments of a call, which is JSON.
    ///
    /// @param index number of the call
    /// @param json at least one character
    void arguments(int index, String json);

    /// Hears that a call is none after all: it is cut off, or cannot be read. Its text comes as content.
    ///
    /// @param index number of the call, which no other call gets
    default void uncalled(int index) {}

    /// Hears text that is neither reasoning nor answer: a mark, or a whole call.
    ///
    /// @param text at least one character
    default void written(String text) {}
}
