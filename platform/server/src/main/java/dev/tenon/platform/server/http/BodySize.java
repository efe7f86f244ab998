package dev.tenon.platform.server.http;

/// Counts what of a body is no base64 of a file: all but letters of base64 that follow each other for long, which texts
/// have not. Known while a body comes, before anything is made of it. For one thread.
final class BodySize {
    private static final int LONG = 1024;

    private long others;
    private long letters;

    /// Counts what has come.
    ///
    /// @param bytes begins with it
    /// @param length how many bytes have come
    void add(byte[] bytes, int length) {
        for (int i = 0; i < length; i++) {
            if (isLetter(bytes[i])) {
                letters++;
            } else {
                others = withoutFiles() + 1;
                letters = 0;
            }
        }
    }

    /// {@return how many bytes are no base64}
    long withoutFiles() {
        return letters > LONG ? others : others + letters;
    }

    /// Also one that escapes another one in JSON.
    private static boolean isLetter(byte letter) {
        return letter >= 'a' && letter <= 'z'
                || letter >= '/' && letter <= '9'
                || letter >= 'A' && letter <= 'Z'
                || letter == '+'
                || letter == '\\';
    }
}
