package dev.tenon.backend.nv.tegra.emulator.stream;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.HexFormat;
import java.util.function.Consumer;

/// A file of command streams: what channels fetched and changed, in order.
///
/// ```
/// "TNVS" | int version | records: byte type, int token (0 where no channel is meant), then
///   1 words     long address, int count, count words
///   2 launch    UTF name, int bytes, launch descriptor, int bytes, constant bank 0
///   3 code      int bytes, cubin
///   4 mapped    long address, long bytes
///   5 unmapped  long address
///   6 written   long address, int bytes, page
///   7 changed   long address, int CRC-32
///   8 done                                                                            all big-endian
/// ```
public final class StreamFile {
    static final int MAGIC = 0x544E5653;
    static final int VERSION = 2;
    static final int WORDS = 1;
    static final int LAUNCH = 2;
    static final int CODE = 3;
    static final int MAPPED = 4;
    static final int UNMAPPED = 5;
    static final int WRITTEN = 6;
    static final int CHANGED = 7;
    static final int DONE = 8;

    private static final int MAX_BYTES = 1 << 24;

    private StreamFile() {}

    /// {@return a recorder that writes such a file}
    ///
    /// @param out where to; the caller closes it
    /// @throws IOException if writing fails
    public static StreamRecorder writer(OutputStream out) throws IOException {
        return new StreamWriter(out);
    }

    /// Reads such a file.
    ///
    /// @param in where from; the caller closes it
    /// @param to receives what is in it
    /// @throws IOException if reading fails, or it is no such file
    public static void read(InputStream in, StreamRecorder to) throws IOException {
        DataInputStream data = new DataInputStream(in);
        int magic = data.readInt();
        int version = data.readInt();
        if (magic != MAGIC || version != VERSION) {
            throw new IOException(String.format(
                    "no command stream: it starts with %08x, version %d; expected %08x, version %d",
                    magic, version, MAGIC, VERSION));
        }
        for (int type = data.read(); type >= 0; type = data.read()) {
            int token = data.readInt();
            switch (type) {
                case WORDS -> {
                    long va = data.readLong();
                    int[] words = new int[count(data.readInt())];
                    for (int i = 0; i < words.length; i++) {
                        words[i] = data.readInt();
                    }
                    to.words(token, va, words);
                }
                case LAUNCH -> to.launch(token, data.readUTF(), bytes(data), bytes(data));
                case CODE -> to.code(bytes(data));
                case MAPPED -> to.mapped(data.readLong(), data.readLong());
                case UNMAPPED -> to.unmapped(data.readLong());
                case WRITTEN -> to.written(data.readLong(), bytes(data));
                case CHANGED -> to.changed(token, data.readLong(), data.readInt());
                case DONE -> to.done(token);
                default -> throw new IOException("record of type " + type + "; known: 1 to 8");
            }
        }
    }

    private static byte[] bytes(DataInputStream data) throws IOException {
        byte[] bytes = new byte[count(data.readInt())];
        data.readFully(bytes);
        return bytes;
    }

    private static int count(int count) throws IOException {
        if (count < 0 || count > MAX_BYTES) {
            throw new IOException("a record of " + count + " items; at most " + MAX_BYTES);
        }
        return count;
    }

    /// Shows such a file as text: buffers, words and launches; pages are left out.
    ///
    /// @param in where from; the caller closes it
    /// @param lines receives it line by line
    /// @throws IOException if reading fails, or it is no such file
    public static void dump(InputStream in, Consumer<String> lines) throws IOException {
        read(in, new StreamRecorder() {
            @Override
            public void words(int token, long va, int[] words) {
                lines.accept(String.format("channel %d, %d words at 0x%x", token, words.length, va));
                Disassembler.words(words).forEach(line -> lines.accept("  " + line));
            }

            @Override
            public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
                lines.accept("channel " + token + ", launch of " + kernel);
                lines.accept("  " + Disassembler.qmd(qmd));
                lines.accept("  bank 0: " + HexFormat.ofDelimiter(" ").formatHex(bank0));
            }

            @Override
            public void mapped(long va, long bytes) {
                lines.accept(String.format("buffer of %d bytes at 0x%x", bytes, va));
            }

            @Override
            public void unmapped(long va) {
                lines.accept(String.format("buffer at 0x%x is gone", va));
            }
        });
    }
}
