package dev.tenon.backend.nv.tegra.emulator;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// A file of command streams: what channels fetched, in order.
///
/// ```
/// "TNVS" | int version | records: byte type, int token, then
///   type 1: long address, int count, count words
///   type 2: UTF name, int bytes, launch descriptor, int bytes, constant bank 0        all big-endian
/// ```
public final class StreamFile {
    private static final int MAGIC = 0x544E5653;
    private static final int VERSION = 1;
    private static final int WORDS = 1;
    private static final int LAUNCH = 2;
    private static final int MAX_BYTES = 1 << 24;

    private StreamFile() {}

    /// {@return a recorder that writes such a file}
    ///
    /// @param out where to; the caller closes it
    /// @throws IOException if writing fails
    public static StreamRecorder writer(OutputStream out) throws IOException {
        DataOutputStream data = new DataOutputStream(out);
        data.writeInt(MAGIC);
        data.writeInt(VERSION);
        return new StreamRecorder() {
            @Override
            public void words(int token, long va, int[] words) {
                try {
                    data.writeByte(WORDS);
                    data.writeInt(token);
                    data.writeLong(va);
                    data.writeInt(words.length);
                    for (int word : words) {
                        data.writeInt(word);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
                try {
                    data.writeByte(LAUNCH);
                    data.writeInt(token);
                    data.writeUTF(kernel);
                    data.writeInt(qmd.length);
                    data.write(qmd);
                    data.writeInt(bank0.length);
                    data.write(bank0);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
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
                default -> throw new IOException("record of type " + type + "; known: 1 and 2");
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

    /// {@return such a file as text}
    ///
    /// @param in where from; the caller closes it
    /// @throws IOException if reading fails, or it is no such file
    public static List<String> dump(InputStream in) throws IOException {
        List<String> lines = new ArrayList<>();
        read(in, new StreamRecorder() {
            @Override
            public void words(int token, long va, int[] words) {
                lines.add(String.format("channel %d, %d words at 0x%x", token, words.length, va));
                Disassembler.words(words).forEach(line -> lines.add("  " + line));
            }

            @Override
            public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
                lines.add("channel " + token + ", launch of " + kernel);
                lines.add("  " + Disassembler.qmd(qmd));
                lines.add("  bank 0: " + HexFormat.ofDelimiter(" ").formatHex(bank0));
            }
        });
        return lines;
    }
}
