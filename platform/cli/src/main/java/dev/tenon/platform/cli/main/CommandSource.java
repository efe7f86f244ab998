package dev.tenon.platform.cli.main;

import dev.tenon.platform.cli.TenonCommand;

/// A command that can be made when it is needed.
interface CommandSource {
    /// {@return the command's name}
    String name();

    /// {@return where it comes from, for error messages}
    String origin();

    /// {@return a new command object}
    TenonCommand create();

    /// Releases a command object.
    ///
    /// @param command what [#create()] returned
    void release(TenonCommand command);
}
