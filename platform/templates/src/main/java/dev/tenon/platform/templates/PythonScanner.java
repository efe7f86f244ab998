package dev.tenon.platform.templates;

import com.hubspot.jinjava.el.ext.ExtendedScanner;

/// The engine's scanner with Python's strings: hexadecimal, Unicode and octal escapes; unknown ones
/// are kept.
final class PythonScanner extends ExtendedScanner {
    /// Makes a scanner.
    ///
    /// @param input the expression in the engine's brackets
    PythonScanner(String input) {
        super(input);
    }

    @Override
    protected Token nextString() throws ScanException {
        String input = getInput();
        int start = getPosition();
        char quote = input.charAt(start);
        StringBuilder text = new StringBuilder();
        int i = start + 1;
        while (i < input.length()) {
            char c = input.charAt(i++);
            if (c == quote) {
                return token(Symbol.STRING, text.toString(), i - start);
            }
            if (c != '\\' || i == input.length()) {
                text.append(c);
                continue;
            }
            char e = input.charAt(i++);
            switch (e) {
                case 'n' -> text.append('\n');
                case 't' -> text.append('\t');
                case 'r' -> text.append('\r');
                case 'b' -> text.append('\b');
                case 'f' -> text.append('\f');
                case 'a' -> text.append('\u0007');
                case 'v' -> text.append('\u000b');
                case '\\', '\'', '"' -> text.append(e);
                case '\n' -> {}
                case 'x', 'u', 'U' -> {
                    int digits = e == 'x' ? 2 : e == 'u' ? 4 : 8;
                    if (i + digits > input.length()) {
                        throw new ScanException(start, "cut escape", "\\" + e);
                    }
                    int code = Integer.parseInt(input.substring(i, i + digits), 16);
                    if (!Character.isValidCodePoint(code)) {
                        throw new ScanException(start, "impossible character", "\\" + e);
                    }
                    text.appendCodePoint(code);
                    i += digits;
                }
                case '0', '1', '2', '3', '4', '5', '6', '7' -> {
                    int code = e - '0';
                    for (int n = 0; n < 2 && i < input.length() && isOctal(input.charAt(i)); n++) {
                        code = code * 8 + input.charAt(i++) - '0';
                    }
                    text.append((char) code);
                }
                default -> text.append('\\').append(e);
            }
        }
        throw new ScanException(start, "unterminated string", String.valueOf(quote));
    }

    private static boolean isOctal(char c) {
        return c >= '0' && c <= '7';
    }
}
