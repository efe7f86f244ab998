package dev.tenon.platform.chat;

/// Reads the call of a tool while it is generated, and writes its arguments as JSON. For one thread.
abstract class CallReader {
    /// The arguments, JSON, as far as they are known and have not been fetched.
    final StringBuilder arguments = new StringBuilder();
    private String name;
    private boolean begun;
    private boolean ended;
    private boolean failed;

    /// @param name the tool; null if it is not known yet
    CallReader(String name) {
        this.name = name;
    }

    /// Takes text, up to the end of the call at most.
    ///
    /// @param pending the text
    /// @param last whether no more comes
    /// @return how many of its characters were taken
    abstract int take(StringBuilder pending, boolean last);

    /// {@return the tool; null as long as it is not known}
    final String name() {
        return name;
    }

    final void name(String tool) {
        name = tool;
    }

    /// {@return whether arguments of a tool have begun, so that they may be handed on}
    final boolean begun() {
        return begun && name != null;
    }

    final void begin() {
        begun = true;
    }

    /// {@return whether the call is whole}
    final boolean ended() {
        return ended;
    }

    final void end() {
        ended = true;
    }

    /// {@return whether the text is no call}
    final boolean failed() {
        return failed;
    }

    final void fail() {
        failed = true;
    }
}
