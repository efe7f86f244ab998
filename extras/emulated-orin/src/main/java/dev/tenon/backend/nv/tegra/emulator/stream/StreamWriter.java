package dev.tenon.backend.nv.tegra.emulator.stream;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/// Writes the records of a [StreamFile].
final class StreamWriter implements StreamRecorder {
    private final DataOutputStream data;

    StreamWriter(OutputStream out) throws IOException {
        data = new DataOutputStream(out);
        data.writeInt(StreamFile.MAGIC);
        data.writeInt(StreamFile.VERSION);
    }

    /// The fields of a record.
    private interface Fields {
        void write() throws IOException;
    }

    private void record(int type, int token, Fields fields) {
        try {
            data.writeByte(type);
            data.writeInt(token);
            fields.write();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void bytes(byte[] bytes) throws IOException {
        data.writeInt(bytes.length);
        data.write(bytes);
    }

    @Override
    public void words(int token, long va, int[] words) {
        record(StreamFile.WORDS, token, () -> {
            data.writeLong(va);
            data.writeInt(words.length);
            for (int word : words) {
                data.writeInt(word);
            }
        });
    }

    @Override
    public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
        record(StreamFile.LAUNCH, token, () -> {
            data.writeUTF(kernel);
            bytes(qmd);
            bytes(bank0);
        });
    }

    @Override
    public void code(byte[] cubin) {
        record(StreamFile.CODE, 0, () -> bytes(cubin));
    }

    @Override
    public void mapped(long va, long bytes) {
        record(StreamFile.MAPPED, 0, () -> {
            data.writeLong(va);
            data.writeLong(bytes);
        });
    }

    @Override
    public void unmapped(long va) {
        record(StreamFile.UNMAPPED, 0, () -> data.writeLong(va));
    }

    @Override
    public void written(long va, byte[] page) {
        record(StreamFile.WRITTEN, 0, () -> {
            data.writeLong(va);
            bytes(page);
        });
    }

    @Override
    public void changed(int token, long va, int crc) {
        record(StreamFile.CHANGED, token, () -> {
            data.writeLong(va);
            data.writeInt(crc);
        });
    }

    @Override
    public void done(int token) {
        record(StreamFile.DONE, token, () -> {});
    }
}
