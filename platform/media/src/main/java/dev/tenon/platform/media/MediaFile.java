package dev.tenon.platform.media;

import dev.tenon.api.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;

/// Reads files whole, once their length is allowed.
final class MediaFile {
    private MediaFile() {}

    static byte[] read(String what, Path file, LongConsumer check) {
        try {
            check.accept(Files.size(file));
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new MediaException(ErrorCode.IO, what + " cannot be read: " + e + ". Check path and rights.", e);
        }
    }
}
