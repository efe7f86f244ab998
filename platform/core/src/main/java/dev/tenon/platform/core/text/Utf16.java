package dev.tenon.platform.core.text;

/// Checks of Java strings, which can hold surrogates without a partner.
final class Utf16 {
    private Utf16() {}

    /// Replaces lone surrogates, which have no UTF-8, by U+FFFD.
    ///
    /// @param text any text
    /// @return the same text, or a mended copy
    static String wellFormed(String text) {
        int n = text.length();
        for (int i = 0; i < n; i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (Character.isHighSurrogate(c) && i + 1 < n && Character.isLowSurrogate(text.charAt(i + 1))) {
                    i++;
                } else {
                    return mended(text, i);
                }
            }
        }
        return text;
    }

    private static String mended(String text, int from) {
        char[] chars = text.toCharArray();
        for (int i = from; i < chars.length; i++) {
            if (Character.isHighSurrogate(chars[i]) && i + 1 < chars.length && Character.isLowSurrogate(chars[i + 1])) {
                i++;
            } else if (Character.isSurrogate(chars[i])) {
                chars[i] = '\uFFFD';
            }
        }
        return new String(chars);
    }
}
