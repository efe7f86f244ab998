package dev.tenon.api.chat;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Whether a reply calls tools.
///
/// @param mode whether it does; never null
/// @param name the tool that it calls, with [Mode#REQUIRED]; null for any
public record ToolChoice(Mode mode, @Nullable String name) {
    /// The model decides.
    public static final ToolChoice AUTO = new ToolChoice(Mode.AUTO, null);
    /// It does not, and does not hear of the tools.
    public static final ToolChoice NONE = new ToolChoice(Mode.NONE, null);
    /// It calls at least one.
    public static final ToolChoice REQUIRED = new ToolChoice(Mode.REQUIRED, null);

    /// Checks that there is a mode.
    public ToolChoice {
        Objects.requireNonNull(mode, "mode");
    }

    /// Whether a reply calls tools.
    public enum Mode {
        /// The model decides.
        AUTO,
        /// It does not.
        NONE,
        /// It does.
        REQUIRED
    }

    /// {@return a choice by which the reply calls one tool, once}
    ///
    /// @param name the tool
    public static ToolChoice named(String name) {
        return new ToolChoice(Mode.REQUIRED, Objects.requireNonNull(name, "name"));
    }
}
