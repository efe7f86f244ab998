package dev.tenon.platform.launcher.home;

/// The platform did not start; the message is meant for the user and ends with a code, `ENV-003`
/// unless said.
///
/// The launcher knows no type of the api, because the api is a bundle; so it has its own exception.
public final class PlatformException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// The code of this kind of error, the same as `ErrorCode.ENV_PLATFORM` of the api.
    static final String CODE = "ENV-003";

    public PlatformException(String text) {
        this(text, CODE);
    }

    public PlatformException(String text, String code) {
        super(text + " [" + code + "]");
    }
}
