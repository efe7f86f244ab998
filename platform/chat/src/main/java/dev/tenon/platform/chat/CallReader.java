package dev.tenon.platform.chat;

/// Reads the call of a tool while it is generated, and hands on pieces of the arguments once the name is known. For one
/// thread.
interface CallReader {
    /// Takes text, up to the end of the call.
    ///
    /// @param pending the text; what is taken is deleted
    /// @param last whether no more comes
    void take(StringBuilder pending, boolean last);

    /// {@return whether the call has ended}
    boolean ended();

    /// {@return whether the sink knows the call}
    boolean told();

    /// {@return all that was taken of what turned out to be no call}
    String raw();
}
