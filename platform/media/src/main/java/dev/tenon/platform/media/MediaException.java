package dev.tenon.platform.media;

import dev.tenon.api.error.TenonException;

/// A file of a picture or sound is not read; `docs/errors.md` has a paragraph on each code.
public final class MediaException extends TenonException {
    /// The file is of a kind that is not read.
    public static final String UNSUPPORTED = "MEDIA-001";
    /// The file is damaged.
    public static final String DAMAGED = "MEDIA-002";
    /// The file exceeds a budget.
    public static final String BUDGET = "MEDIA-003";

    private static final long serialVersionUID = 1L;

    MediaException(String code, String text, Throwable cause) {
        super(code, text, cause);
    }

    static MediaException unsupported(String what, String found, String expected) {
        return new MediaException(
                UNSUPPORTED, what + " is " + found + "; expected " + expected + ". Convert it.", null);
    }

    static MediaException damaged(String what, String how) {
        return damaged(what, how, null);
    }

    static MediaException damaged(String what, String how, Throwable cause) {
        return new MediaException(DAMAGED, what + " is damaged: " + how + ". Save or send it again.", cause);
    }

    static MediaException budget(String what, String found, String most, String remedy) {
        return new MediaException(
                BUDGET,
                what + " has " + found + "; expected at most " + most + ". " + remedy + ", or raise the budget.",
                null);
    }
}
