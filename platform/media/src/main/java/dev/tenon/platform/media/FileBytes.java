package dev.tenon.platform.media;

import java.nio.charset.StandardCharsets;

/// Reads numbers of a file from left to right; beyond its end the file is damaged.
final class FileBytes {
    private final String what;
    private final byte[] bytes;
    private final int end;
    private int place;

    FileBytes(String what, byte[] bytes) {
        this(what, bytes, 0, bytes.length);
    }

    private FileBytes(String what, byte[] bytes, int start, int end) {
        this.what = what;
        this.bytes = bytes;
        this.place = start;
        this.end = end;
    }

    String what() {
        return what;
    }

    byte[] array() {
        return bytes;
    }

    int place() {
        return place;
    }

    int left() {
        return end - place;
    }

    boolean startsWith(String magic) {
        return has(0, magic);
    }

    /// {@return whether some characters follow after `offset` bytes}
    boolean has(int offset, String magic) {
        byte[] wanted = magic.getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < wanted.length; i++) {
            if (offset + i >= left() || bytes[place + offset + i] != wanted[i]) {
                return false;
            }
        }
        return true;
    }

    /// The next bytes apart; this one goes on after them.
    FileBytes part(long length) {
        int start = place;
        skip(length);
        return new FileBytes(what, bytes, start, place);
    }

    void skip(long count) {
        if (count < 0 || count > left()) {
            throw MediaException.damaged(
                    what, "it ends at byte " + end + ", and " + (count - left()) + " bytes are missing");
        }
        place += (int) count;
    }

    String text(int length) {
        skip(length);
        return new String(bytes, place - length, length, StandardCharsets.ISO_8859_1);
    }

    int u8() {
        skip(1);
        return bytes[place - 1] & 0xff;
    }

    int u16() {
        return u8() << 8 | u8();
    }

    int u16Little() {
        return u8() | u8() << 8;
    }

    int u24Little() {
        return u16Little() | u8() << 16;
    }

    long u32() {
        return (long) u16() << 16 | u16();
    }

    long u32Little() {
        return u16Little() | (long) u16Little() << 16;
    }
}
