package dev.tenon.platform.cli.pull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;

/// A server of one model in two versions that answers with faults, as a seed decides.
final class FaultyServer implements AutoCloseable {
    /// What is wrong with an answer.
    enum Fault {
        /// The connection ends within the content.
        CUT,
        /// The content stops and the connection stays.
        STALL,
        /// No answer at all.
        SILENCE,
        /// The connection ends at once.
        HANG_UP,
        /// The content is shorter than its length.
        LENGTH_TOO_LARGE,
        /// The length is that of a shorter content.
        LENGTH_TOO_SMALL,
        /// The length is no number.
        LENGTH_NO_NUMBER,
        /// Bytes follow the model, and the length counts them.
        TRAILING_BYTES,
        /// From here on there is another version.
        OTHER_VERSION,
        /// Another part than the one that was asked for.
        WRONG_OFFSET,
        /// A part of a file of another length.
        WRONG_TOTAL,
        /// A part of another version, in spite of the condition.
        WRONG_TAG,
        /// A part, where the whole file was asked for.
        UNASKED_PART,
        /// The range is outside of the file.
        OUTSIDE,
        /// A redirect to itself.
        LOOP,
        /// A redirect to an address that is none.
        REDIRECT_NOWHERE,
        /// A redirect to the file.
        REDIRECT,
        /// No HTTP.
        GARBAGE,
        /// Bytes of the right number that are no model.
        GARBAGE_CONTENT,
        /// A web page.
        PAGE,
        /// Too many requests at the moment.
        BUSY,
        /// The file does not exist.
        MISSING
    }

    private static final String END = "Connection: close\r\n\r\n";

    private final ServerSocket socket;
    private final Random random;
    private final Deque<Fault> faults = new ArrayDeque<>();
    private final String description;
    private final boolean tags;
    private final boolean dates;
    /// 0: the length is told; 1: the content ends with the connection; 2: it comes in chunks.
    private final int framing;

    private byte[] content;
    private final byte[] second;
    private String version = "1";

    /// Starts a server.
    ///
    /// @param random decides what it does
    /// @param first the model
    /// @param second another version of it
    FaultyServer(Random random, byte[] first, byte[] second) throws IOException {
        this.random = random;
        this.content = first;
        this.second = second;
        tags = random.nextInt(3) > 0;
        dates = random.nextBoolean();
        framing = random.nextInt(5) / 2;
        int count = random.nextInt(7);
        for (int i = 0; i < count; i++) {
            faults.add(Fault.values()[random.nextInt(Fault.values().length)]);
        }
        description = faults + (tags ? ", tags" : "") + (dates ? ", dates" : "") + ", framing " + framing;
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    String url(String path) {
        return "http://127.0.0.1:" + socket.getLocalPort() + path;
    }

    @Override
    public String toString() {
        return description;
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket one = socket.accept();
                Thread.ofVirtual().start(() -> serve(one));
            } catch (IOException e) {
                if (!socket.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void serve(Socket one) {
        try (one) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(one.getInputStream(), StandardCharsets.ISO_8859_1));
            String path = String.valueOf(in.readLine()).replaceFirst("^GET ([^ ]*).*", "$1");
            int from = 0;
            String condition = "";
            for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
                if (line.startsWith("Range: ")) {
                    from = Integer.parseInt(line.replaceAll("\\D", ""));
                } else if (line.startsWith("If-Range: ")) {
                    condition = line.substring("If-Range: ".length());
                }
            }
            Answer answer = answer(path, from, condition);
            OutputStream out = one.getOutputStream();
            out.write(answer.head().getBytes(StandardCharsets.ISO_8859_1));
            out.write(answer.body());
            out.flush();
            if (answer.stays()) {
                in.read(); // until the client goes
            }
        } catch (IOException e) {
            // The client has gone, which is its right.
            return;
        }
    }

    private record Answer(String head, byte[] body, boolean stays) {
        Answer(String head, byte... body) {
            this(head, body, false);
        }
    }

    private synchronized Answer answer(String path, int from, String condition) {
        Fault fault = path.startsWith("/good") ? null : faults.poll();
        if (fault == null) {
            return file(null, from, condition);
        }
        switch (fault) {
            case OTHER_VERSION -> {
                content = second;
                version = "2";
                return file(null, from, condition);
            }
            case SILENCE -> {
                return new Answer("", new byte[0], true);
            }
            case HANG_UP -> {
                return new Answer("");
            }
            case GARBAGE -> {
                byte[] bytes = new byte[random.nextInt(300)];
                random.nextBytes(bytes);
                return new Answer("", bytes);
            }
            case LOOP -> {
                faults.addFirst(Fault.LOOP);
                return redirect(path);
            }
            case REDIRECT_NOWHERE -> {
                return redirect(random.nextBoolean() ? "http://" : "ftp://x/y");
            }
            case REDIRECT -> {
                return redirect("/good.gguf");
            }
            case BUSY -> {
                return new Answer("HTTP/1.1 " + (random.nextBoolean() ? "503 Busy" : "429 Slowly")
                        + "\r\nContent-Length: 0\r\n" + END);
            }
            case MISSING -> {
                return new Answer("HTTP/1.1 404 Missing\r\nContent-Length: 0\r\n" + END);
            }
            case OUTSIDE -> {
                return new Answer("HTTP/1.1 416 Outside\r\nContent-Range: bytes */" + random.nextInt(content.length)
                        + "\r\nContent-Length: 0\r\n" + END);
            }
            case PAGE -> {
                byte[] page = "<html>Please log in</html>".getBytes(StandardCharsets.US_ASCII);
                return new Answer("HTTP/1.1 200 OK\r\nContent-Length: " + page.length + "\r\n" + END, page);
            }
            default -> {
                return file(fault, from, condition);
            }
        }
    }

    private Answer file(Fault fault, int asked, String condition) {
        String tag = "\"v" + version + "\"";
        String date = "Tue, 1" + version + " Nov 2026 10:00:00 GMT";
        boolean meant = condition.isEmpty() || tags && condition.equals(tag) || dates && condition.equals(date);
        boolean part = asked > 0 && asked < content.length && (meant || fault == Fault.WRONG_TAG);
        int from = part ? asked : 0;
        int total = content.length;
        byte[] body = Arrays.copyOfRange(content, from, content.length);
        int length = body.length;
        boolean stays = false;
        if (fault == Fault.UNASKED_PART && asked == 0 || fault == Fault.WRONG_OFFSET && part) {
            part = true;
            from = random.nextInt(1, content.length);
            from = from == asked ? from - 1 : from;
            body = Arrays.copyOfRange(content, from, content.length);
            length = body.length;
        } else if (fault == Fault.WRONG_TOTAL && part) {
            total += random.nextInt(1, 1000);
        } else if (fault == Fault.WRONG_TAG && part && (tags || dates)) {
            tag = "\"other\"";
            date = "Tue, 13 Nov 2026 10:00:00 GMT";
            body = new byte[body.length];
        } else if (fault == Fault.CUT || fault == Fault.STALL) {
            body = Arrays.copyOf(body, random.nextInt(body.length));
            stays = fault == Fault.STALL;
        } else if (fault == Fault.LENGTH_TOO_LARGE) {
            length += random.nextInt(1, 1000);
        } else if (fault == Fault.LENGTH_TOO_SMALL) {
            length = random.nextInt(body.length);
            body = Arrays.copyOf(body, length);
        } else if (fault == Fault.TRAILING_BYTES) {
            body = Arrays.copyOf(body, body.length + random.nextInt(1, 1000));
            length = body.length;
        } else if (fault == Fault.GARBAGE_CONTENT && from == 0) {
            random.nextBytes(body);
        }
        StringBuilder head = new StringBuilder(part ? "HTTP/1.1 206 Part\r\n" : "HTTP/1.1 200 OK\r\n");
        if (part) {
            head.append("Content-Range: bytes ").append(from).append('-').append(total - 1);
            head.append('/').append(total).append("\r\n");
        }
        if (tags) {
            head.append("ETag: ").append(tag).append("\r\n");
        }
        if (dates) {
            head.append("Last-Modified: ").append(date).append("\r\n");
        }
        if (fault == Fault.LENGTH_NO_NUMBER) {
            head.append("Content-Length: many\r\n");
        } else if (framing == 0) {
            head.append("Content-Length: ").append(length).append("\r\n");
        } else if (framing == 2) {
            head.append("Transfer-Encoding: chunked\r\n");
            boolean ends = !stays && fault != Fault.CUT && fault != Fault.LENGTH_TOO_LARGE;
            body = chunks(body, ends);
        }
        return new Answer(head + END, body, stays);
    }

    private static byte[] chunks(byte[] body, boolean ends) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < body.length; at += 5000) {
            int n = Math.min(5000, body.length - at);
            text.append(Integer.toHexString(n)).append("\r\n");
            text.append(new String(body, at, n, StandardCharsets.ISO_8859_1)).append("\r\n");
        }
        return (ends ? text + "0\r\n\r\n" : text.toString()).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Answer redirect(String to) {
        return new Answer("HTTP/1.1 302 There\r\nLocation: " + to + "\r\nContent-Length: 0\r\n" + END);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
