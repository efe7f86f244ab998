package dev.tenon.platform.cli.options;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Reads text that must be UTF-8.
public final class TextInput {
    private TextInput() {}

    /// Reads a stream to its end.
    ///
    /// @param in the stream
    /// @param what what error messages call it
    /// @return its text
    /// @throws TenonException (`CLI-002`) if it is not UTF-8
    /// @throws IOException if reading fails
    public static String all(InputStream in, String what) throws IOException {
        return decode(in.readAllBytes(), what);
    }

    /// Reads a file as llama.cpp does: one line end at the very end is dropped.
    ///
    /// @param file the file
    /// @return its text
    /// @throws TenonException (`IO-001`) if it cannot be read, (`CLI-002`) if it is not UTF-8
    public static String promptFile(Path file) {
        String text = file(file);
        return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    }

    /// Reads a file.
    ///
    /// @param file the file
    /// @return its text
    /// @throws TenonException (`IO-001`) if it cannot be read, (`CLI-002`) if it is not UTF-8
    public static String file(Path file) {
        if (Files.isDirectory(file)) {
            throw new TenonException(ErrorCode.IO, file + " is a directory. Give the path of a text file.");
        }
        try {
            return decode(Files.readAllBytes(file), file.toString());
        } catch (NoSuchFileException e) {
            throw new TenonException(ErrorCode.IO, file + " does not exist. Check the path.", e);
        } catch (IOException e) {
            throw new TenonException(ErrorCode.IO, file + " cannot be read: " + e.getMessage() + ".", e);
        }
    }

    /// Decodes bytes.
    ///
    /// @param bytes the bytes
    /// @param what what error messages call them
    /// @return the text
    /// @throws TenonException (`CLI-002`) if they are not UTF-8
    public static String decode(byte[] bytes, String what) {
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer from = ByteBuffer.wrap(bytes);
        CharBuffer to = CharBuffer.allocate(bytes.length);
        CoderResult result = decoder.decode(from, to, true);
        if (result.isError()) {
            throw new TenonException(
                    ErrorCode.INPUT_UTF8,
                    "The text of " + what + " is not UTF-8: byte "
                            + String.format("0x%02X", bytes[from.position()] & 0xFF) + " at offset "
                            + from.position() + ". Convert it to UTF-8, for example with iconv.");
        }
        decoder.flush(to);
        return to.flip().toString();
    }
}
