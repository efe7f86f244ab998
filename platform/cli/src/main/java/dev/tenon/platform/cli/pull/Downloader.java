package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.http.HttpGet;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Downloads a file; an interrupted download can be resumed, and an incomplete file never gets the
/// final name.
///
/// Bytes go to `NAME.part`; a later call continues at its end, if the server still has the same
/// file (its ETag is kept in `NAME.part.etag`). The file gets its name only after size and checksum
/// are verified.
final class Downloader {
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (?:(\\d+)-\\d+|\\*)/(\\d+|\\*)");
    private static final int ATTEMPTS = 5;

    private final HttpGet http;
    private final Console console;
    private final Duration pause;
    private final Duration stall;

    /// Creates a downloader.
    ///
    /// @param http sends requests
    /// @param console shows progress
    /// @param pause before the second attempt; doubles with each further one
    /// @param stall after how long without a byte a connection is given up
    Downloader(HttpGet http, Console console, Duration pause, Duration stall) {
        this.http = http;
        this.console = console;
        this.pause = pause;
        this.stall = stall;
    }

    /// What is expected of a file.
    ///
    /// @param uri where to get it
    /// @param size size in bytes, or -1
    /// @param sha256 SHA-256 in hexadecimal, or null
    record Wanted(URI uri, long size, String sha256) {}

    /// Downloads a file, or the rest of it.
    ///
    /// @param wanted what to get
    /// @param target where to put it; replaced if it is there
    /// @throws TenonException (`IO-002`) if it cannot be had, or checksum or size are wrong
    /// @throws IOException if it cannot be written
    void download(Wanted wanted, Path target) throws IOException {
        Files.createDirectories(target.toAbsolutePath().getParent());
        Path part = target.resolveSibling(target.getFileName() + ".part");
        Path etag = target.resolveSibling(target.getFileName() + ".part.etag");
        int failures = 0;
        try (Progress bar = console.progress(target.getFileName().toString(), wanted.size(), "bytes")) {
            boolean whole = wanted.size() >= 0 && size(part) == wanted.size();
            while (!whole) {
                long before = size(part);
                try {
                    whole = attempt(wanted, part, etag, bar);
                } catch (IOException e) {
                    failures = size(part) > before ? 1 : failures + 1;
                    if (failures >= ATTEMPTS) {
                        throw failed(
                                wanted.uri() + " broke off " + failures + " times: " + e.getMessage() + ". "
                                        + size(part) + " bytes are kept; run the command again to resume.",
                                e);
                    }
                    sleep(failures);
                }
            }
        }
        check(wanted, part, etag);
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Files.deleteIfExists(etag);
    }

    /// Runs one request; returns true if the file is complete.
    private boolean attempt(Wanted wanted, Path part, Path etag, Progress bar) throws IOException {
        long have = size(part);
        if (wanted.size() >= 0 && have > wanted.size()) {
            Files.delete(part);
            have = 0;
        }
        HttpResponse<InputStream> response = http.send(wanted.uri(), rangeHeaders(have, etag));
        try (InputStream body = response.body()) {
            switch (response.statusCode()) {
                case 200 -> have = 0;
                case 206 -> {
                    if (rangeStart(response) != have) {
                        Files.deleteIfExists(part);
                        throw new IOException("the server sent a different range than requested");
                    }
                }
                case 416 -> {
                    if (have > 0 && total(response) == have) {
                        return true;
                    }
                    Files.deleteIfExists(part);
                    Files.deleteIfExists(etag);
                    throw new IOException("the server no longer has this file");
                }
                case 408, 425, 429, 500, 502, 503, 504 ->
                    throw new IOException("the server answered with HTTP " + response.statusCode());
                case 401, 403 ->
                    throw failed(
                            wanted.uri() + " cannot be accessed (HTTP " + response.statusCode()
                                    + "). Accept the model's licence on the site, and set HF_TOKEN.",
                            null);
                default ->
                    throw failed(
                            wanted.uri() + " answered with HTTP " + response.statusCode()
                                    + "; expected 200. Check the address.",
                            null);
            }
            long length = response.headers().firstValueAsLong("Content-Length").orElse(-1);
            long total = length < 0 ? wanted.size() : have + length;
            if (wanted.size() >= 0 && total != wanted.size()) {
                throw failed(
                        wanted.uri() + " has " + total + " bytes; expected " + wanted.size()
                                + ". The file changed on the server: run the command again.",
                        null);
            }
            keepEtag(response, etag);
            long got = have + copy(body, part, have, total, bar);
            if (total >= 0 && got != total) {
                throw new IOException("the connection ended after " + got + " of " + total + " bytes");
            }
            return true;
        }
    }

    private static Map<String, String> rangeHeaders(long have, Path etag) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        if (have > 0) {
            headers.put("Range", "bytes=" + have + "-");
            if (Files.exists(etag)) {
                headers.put("If-Range", Files.readString(etag));
            }
        }
        return headers;
    }

    private static void keepEtag(HttpResponse<?> response, Path etag) throws IOException {
        String value = response.headers().firstValue("ETag").orElse("");
        if (value.startsWith("\"")) {
            Files.writeString(etag, value);
        } else {
            Files.deleteIfExists(etag);
        }
    }

    private long copy(InputStream body, Path part, long have, long total, Progress bar) throws IOException {
        StandardOpenOption how = have > 0 ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING;
        byte[] buffer = new byte[1 << 16];
        long done = 0;
        try (OutputStream out = Files.newOutputStream(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE, how);
                StallGuard guard = new StallGuard(body, stall)) {
            for (int n = body.read(buffer); n >= 0; n = body.read(buffer)) {
                guard.alive();
                out.write(buffer, 0, n);
                done += n;
                bar.to(have + done, total);
            }
        }
        return done;
    }

    private void check(Wanted wanted, Path part, Path etag) throws IOException {
        if (wanted.sha256() != null) {
            String found = sha256(part);
            if (!found.equalsIgnoreCase(wanted.sha256())) {
                Files.delete(part);
                Files.deleteIfExists(etag);
                throw failed(
                        "The checksum of " + wanted.uri() + " is wrong: SHA-256 is " + found + "; expected "
                                + wanted.sha256() + ". The download was removed: run the command again.",
                        null);
            }
        }
        if (part.toString().endsWith(".gguf.part")) {
            byte[] start;
            try (InputStream in = Files.newInputStream(part)) {
                start = in.readNBytes(4);
            }
            if (!new String(start, java.nio.charset.StandardCharsets.ISO_8859_1).equals("GGUF")) {
                Files.delete(part);
                Files.deleteIfExists(etag);
                throw failed(
                        wanted.uri() + " is not a GGUF file (perhaps a web page). The download was removed: check the"
                                + " address.",
                        null);
            }
        }
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
        try (InputStream in = Files.newInputStream(file);
                Progress bar = console.progress("checksum", Files.size(file), "bytes")) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
                done += n;
                bar.to(done);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static long rangeStart(HttpResponse<?> response) {
        Matcher range = CONTENT_RANGE.matcher(
                response.headers().firstValue("Content-Range").orElse(""));
        return range.matches() && range.group(1) != null ? Long.parseLong(range.group(1)) : -1;
    }

    private static long total(HttpResponse<?> response) {
        Matcher range = CONTENT_RANGE.matcher(
                response.headers().firstValue("Content-Range").orElse(""));
        return range.matches() && !range.group(2).equals("*") ? Long.parseLong(range.group(2)) : -1;
    }

    private static long size(Path file) throws IOException {
        return Files.exists(file) ? Files.size(file) : 0;
    }

    private void sleep(int failures) throws IOException {
        try {
            Thread.sleep(pause.multipliedBy(1L << Math.min(failures - 1, 6)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static TenonException failed(String text, Throwable cause) {
        return new TenonException(ErrorCode.DOWNLOAD, text, cause);
    }

    /// Closes a body that has sent no byte for some time, so that the reader does not wait forever.
    private static final class StallGuard implements AutoCloseable {
        private final Thread watch;
        private volatile long last = System.nanoTime();

        StallGuard(InputStream body, Duration limit) {
            watch = Thread.ofVirtual().start(() -> {
                try {
                    while (System.nanoTime() - last < limit.toNanos()) {
                        Thread.sleep(Math.max(1, limit.toMillis() / 10));
                    }
                    body.close();
                } catch (InterruptedException | IOException e) {
                    // Interrupted: the download is over. Not closable: the reader sees the same
                    // error.
                    return;
                }
            });
        }

        void alive() {
            last = System.nanoTime();
        }

        @Override
        public void close() {
            watch.interrupt();
        }
    }
}
