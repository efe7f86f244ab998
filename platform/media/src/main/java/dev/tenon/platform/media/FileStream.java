package dev.tenon.platform.media;

import java.io.EOFException;
import java.io.UncheckedIOException;
import javax.imageio.stream.ImageInputStreamImpl;

/// The bytes of a file for a reader of Image I/O. Who goes on reading after the end is stopped: some
/// readers take every missing byte for a 0, which for many pixels takes minutes.
final class FileStream extends ImageInputStreamImpl {
    private static final int MOST_READS_AFTER_THE_END = 1000;

    private final byte[] bytes;
    private int ended;

    /// @param bytes borrowed
    FileStream(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public int read() {
        bitOffset = 0;
        return isAtEnd() ? -1 : bytes[(int) streamPos++] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) {
        bitOffset = 0;
        if (length == 0) {
            return 0;
        }
        if (isAtEnd()) {
            return -1;
        }
        int count = Math.min(length, (int) (bytes.length - streamPos));
        System.arraycopy(bytes, (int) streamPos, to, offset, count);
        streamPos += count;
        return count;
    }

    @Override
    public long length() {
        return bytes.length;
    }

    private boolean isAtEnd() {
        if (streamPos < bytes.length) {
            return false;
        }
        if (++ended > MOST_READS_AFTER_THE_END) {
            throw new UncheckedIOException(new EOFException("the file ends at byte " + bytes.length));
        }
        return true;
    }
}
