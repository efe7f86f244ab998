package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Decides whether a download is the whole model that was wanted.
final class Verifier {
    private final PullListener listener;

    Verifier(PullListener listener) {
        this.listener = listener;
    }

    /// Checks a file whose length nobody told: it must not end before its tensors do.
    ///
    /// @param part the file
    /// @throws IOException if it does
    void requireEnd(Part part) throws IOException {
        try {
            GgufReader.check(part.file(), TensorTypes.standard());
        } catch (TenonException e) {
            // Anything else is checked again, and reported, as the content of a whole file.
            if (e.code().equals(ErrorCode.GGUF_TRUNCATED) || e.code().equals(ErrorCode.GGUF_OFFSET)) {
                throw new IOException(
                        "the connection ended after " + part.size() + " bytes, before the model's end", e);
            }
        }
    }

    /// Checks what has come: checksum and structure.
    ///
    /// @param wanted what is expected
    /// @param part the file; removed if it is wrong
    /// @throws TenonException (`IO-002`) if it is wrong
    void check(Downloader.Wanted wanted, Part part) throws IOException {
        if (wanted.sha256() != null) {
            String found = sha256(part.file());
            if (!found.equalsIgnoreCase(wanted.sha256())) {
                part.discard();
                throw Downloader.failed(
                        "The checksum of " + wanted.uri() + " is wrong: SHA-256 is " + found + "; expected "
                                + wanted.sha256() + ". The download was removed: run the command again.",
                        null);
            }
        }
        try {
            long described = GgufReader.check(part.file(), TensorTypes.standard());
            if (wanted.sha256() == null && part.size() > described) {
                throw new ModelFormatException(
                        ErrorCode.GGUF_OFFSET,
                        part.file() + " has " + part.size() + " bytes; its header describes " + described + ".");
            }
        } catch (UnsupportedModelException e) {
            if (!e.code().equals(ErrorCode.GGUF_TENSOR_TYPE)) {
                throw noModel(wanted, part, e);
            }
            listener.note(text(wanted, part, e));
        } catch (ModelFormatException e) {
            throw noModel(wanted, part, e);
        }
    }

    private static TenonException noModel(Downloader.Wanted wanted, Part part, TenonException e) throws IOException {
        part.discard();
        return Downloader.failed(text(wanted, part, e) + " The download was removed.", e);
    }

    /// What the reader says of a part, said of where it comes from.
    private static String text(Downloader.Wanted wanted, Part part, TenonException e) {
        return e.text().replace(part.file().toString(), wanted.uri().toString());
    }

    /// {@return the SHA-256 of a file in hexadecimal}
    ///
    /// @param file the file
    /// @throws IOException if it cannot be read
    String sha256(Path file) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
        byte[] buffer = new byte[1 << 16];
        long done = 0;
        long total = Files.size(file);
        try (InputStream in = Files.newInputStream(file);
                PullListener.Task task = listener.begin("checksum", total)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
                done += n;
                task.to(done, total);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
