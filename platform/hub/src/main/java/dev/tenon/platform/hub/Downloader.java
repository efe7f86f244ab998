package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.hub.http.HttpFailure;
import dev.tenon.platform.hub.http.HttpGet;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Downloads a model file; an interrupted download can be resumed, and a file that is incomplete or no model never
/// gets the final name.
///
/// One process at a time downloads to a destination ([TargetLock]); others wait. Bytes go to a [Part]. The file gets
/// its name after length, checksum and structure (all tensors lie within the file) are verified; where the server does
/// not tell a length, the structure decides whether it is whole.
final class Downloader {
    private static final int ATTEMPTS = 5;

    private final HttpGet http;
    private final PullListener listener;
    private final Duration pause;
    private final Verifier verifier;

    /// Creates a downloader.
    ///
    /// @param http sends requests
    /// @param listener hears how it goes
    /// @param pause before the second attempt; doubles with each further one
    Downloader(HttpGet http, PullListener listener, Duration pause) {
        this.http = http;
        this.listener = listener;
        this.pause = pause;
        verifier = new Verifier(listener);
    }

    /// What is expected of a file.
    ///
    /// @param uri where to get it
    /// @param size size in bytes, or -1
    /// @param sha256 SHA-256 in hexadecimal, or null
    record Wanted(URI uri, long size, String sha256) {}

    /// Downloads a file, or the rest of it, unless it is there.
    ///
    /// @param wanted what to get
    /// @param target where to put it
    /// @param overwrite whether a file that is there is replaced unasked
    /// @throws TenonException (`IO-002`) if it cannot be had, or is wrong; (`IO-001`) if it cannot be
    ///     written, or another file is there
    /// @throws IOException if it cannot be read or written
    void download(Wanted wanted, Path target, boolean overwrite) throws IOException {
        OutputFile.check(target, true);
        if (!overwrite && isThere(wanted, target)) {
            return;
        }
        Runnable waiting = () -> listener.note("Another download of " + target + " is running; waiting for its end.");
        try (TargetLock lock = TargetLock.take(target, waiting)) {
            if (!overwrite && isThere(wanted, target)) {
                return;
            }
            if (!overwrite && Files.exists(target) && !listener.mayReplace(target)) {
                throw occupied(wanted, target);
            }
            fetch(wanted, target, new Part(target));
        }
    }

    private boolean isThere(Wanted wanted, Path target) throws IOException {
        if (!Files.isRegularFile(target) || wanted.size() >= 0 && wanted.size() != Files.size(target)) {
            return false;
        }
        boolean there = wanted.sha256() != null
                ? verifier.sha256(target).equalsIgnoreCase(wanted.sha256())
                : Origin.read(target)
                        .filter(origin -> origin.url().equals(wanted.uri().toString()))
                        .filter(origin -> origin.length() == size(target))
                        .isPresent();
        if (there) {
            listener.note("It exists already.");
        }
        return there;
    }

    private static long size(Path file) {
        return file.toFile().length();
    }

    private static TenonException occupied(Wanted wanted, Path target) throws IOException {
        Optional<Origin> origin = Origin.read(target).filter(o -> o.length() == size(target));
        return new TenonException(
                ErrorCode.IO,
                target
                        + origin.map(o -> o.url().equals(wanted.uri().toString())
                                        ? " is another version of "
                                        : " comes from " + o.url() + ", not from ")
                                .orElse(" exists, and is not known to be ")
                        + wanted.uri() + ". Replace it with -y, or give another name with -o.");
    }

    private void fetch(Wanted wanted, Path target, Part part) throws IOException {
        int failures = 0;
        long most = part.keep(wanted);
        long first = most;
        try (PullListener.Task task = listener.begin(target.getFileName().toString(), wanted.size())) {
            boolean whole = part.isWhole(wanted);
            while (!whole) {
                try {
                    whole = attempt(wanted, part, task);
                } catch (TenonException e) {
                    part.keep(wanted); // as on a full disk: nothing that cannot be continued
                    throw e;
                } catch (IOException e) {
                    long size = part.size();
                    failures = size > most ? 1 : failures + 1;
                    most = Math.max(most, size);
                    boolean unreachable = e instanceof HttpFailure f && f.unreachable() && most == first;
                    if (unreachable || e instanceof InterruptedIOException || failures >= ATTEMPTS) {
                        throw gaveUp(wanted, part, unreachable, e);
                    }
                    listener.retries(e.getMessage());
                    sleep(failures);
                }
            }
        }
        verifier.check(wanted, part);
        part.complete();
    }

    private static TenonException gaveUp(Wanted wanted, Part part, boolean unreachable, IOException e)
            throws IOException {
        long kept = part.keep(wanted);
        return failed(
                wanted.uri()
                        + (unreachable
                                ? " cannot be reached: " + e.getMessage() + ". Check the address and the network."
                                : " was not downloaded: " + e.getMessage() + ".")
                        + (kept > 0
                                ? " " + kept + " bytes are kept: run the command again to resume."
                                : unreachable ? "" : " Run the command again."),
                e);
    }

    /// Runs one request; returns true if the file is complete.
    private boolean attempt(Wanted wanted, Part part, PullListener.Task task) throws IOException {
        long have = part.keep(wanted);
        try (HttpGet.Answer answer = ask(wanted.uri(), part, have)) {
            long total;
            switch (answer.status()) {
                case 200 -> {
                    have = 0;
                    total = answer.length();
                }
                case 206 -> {
                    total = Part.total(answer);
                    if (have == 0 || !part.continues(answer, Origin.of(wanted.uri(), answer, total), have)) {
                        part.discard();
                        throw new IOException("the server sent another part than the one asked for");
                    }
                }
                case 416 -> {
                    if (have > 0 && Part.total(answer) == have) {
                        return true;
                    }
                    part.discard();
                    throw new IOException("the server has another file than before");
                }
                case 408, 425, 429, 500, 502, 503, 504 ->
                    throw new IOException("the server answered with HTTP " + answer.status());
                default -> throw refused(wanted.uri(), answer.status());
            }
            if (wanted.size() >= 0 && total >= 0 && total != wanted.size()) {
                throw failed(
                        wanted.uri() + " has " + total + " bytes; expected " + wanted.size()
                                + ". The file changed on the server: run the command again.",
                        null);
            }
            total = Math.max(total, wanted.size());
            part.requireSpace(Math.max(0, total - have));
            if (have == 0) {
                part.begin(Origin.of(wanted.uri(), answer, total));
            }
            copy(answer.body(), part, have, total, task);
            requireWhole(part, total);
            return true;
        }
    }

    /// A file of this machine is read whole, as if it had been asked for by HTTP.
    private HttpGet.Answer ask(URI uri, Part part, long have) throws IOException {
        if (!uri.getScheme().equals("file")) {
            return http.send(uri, part.request(have));
        }
        Path file = Path.of(uri);
        try {
            Map<String, List<String>> headers = Map.of(
                    "Last-Modified", List.of(Files.getLastModifiedTime(file).toString()));
            return new HttpGet.Answer(
                    200, HttpHeaders.of(headers, (name, value) -> true), Files.size(file), Files.newInputStream(file));
        } catch (NoSuchFileException e) {
            throw failed(file + " does not exist. Check the registry that names it.", e);
        } catch (IOException e) {
            throw failed(file + " cannot be read: " + e.getMessage() + ".", e);
        }
    }

    private static TenonException refused(URI uri, int status) {
        return failed(
                switch (status) {
                    case 401, 403 ->
                        uri + " cannot be accessed (HTTP " + status
                                + "). Accept the model's licence on the site, and give the token of the site, such as"
                                + " HF_TOKEN.";
                    case 404, 410 -> uri + " does not exist (HTTP " + status + "). Check the address.";
                    default -> uri + " answered with HTTP " + status + "; expected 200. Check the address.";
                },
                null);
    }

    private static void copy(InputStream body, Part part, long have, long total, PullListener.Task task)
            throws IOException {
        byte[] buffer = new byte[1 << 16];
        long done = have;
        try (FileChannel out = part.open()) {
            for (int n = body.read(buffer); n >= 0; n = body.read(buffer)) {
                part.append(out, ByteBuffer.wrap(buffer, 0, n));
                done += n;
                task.to(done, total);
            }
        }
    }

    private void requireWhole(Part part, long total) throws IOException {
        long size = part.size();
        if (total < 0) {
            verifier.requireEnd(part);
        } else if (size != total) {
            if (size > total) {
                part.discard();
            }
            throw new IOException("the connection ended after " + size + " of " + total + " bytes");
        }
    }

    private void sleep(int failures) throws IOException {
        try {
            Thread.sleep(pause.multipliedBy(1L << Math.min(failures - 1, 6)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    static TenonException failed(String text, Throwable cause) {
        return new TenonException(ErrorCode.DOWNLOAD, text, cause);
    }
}
