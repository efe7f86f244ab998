package dev.tenon.platform.hub.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/// The content of an answer, which must not end before its length, nor keep its reader waiting.
final class TimedBody extends FilterInputStream {
    private final long length;
    private final Duration timeout;
    private final Thread watch;
    private long count;
    /// When the reader began to wait, an odd number; 0 while it does not.
    private volatile long waitsSince;
    private volatile boolean stalled;

    TimedBody(InputStream in, long length, Duration timeout) {
        super(in);
        this.length = length;
        this.timeout = timeout;
        watch = Thread.ofVirtual().start(this::watch);
    }

    private void watch() {
        try {
            for (long since = waitsSince;
                    since == 0 || System.nanoTime() - since < timeout.toNanos();
                    since = waitsSince) {
                Thread.sleep(Math.max(1, timeout.toMillis() / 10));
            }
            stalled = true;
            in.close();
        } catch (InterruptedException | IOException e) {
            // Interrupted: the body was read. Not closable: the reader sees the same error.
            return;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int n) throws IOException {
        int read;
        waitsSince = System.nanoTime() | 1;
        try {
            read = super.read(target, offset, n);
        } catch (IOException e) {
            throw stalled
                    ? new IOException("no byte came in " + timeout.toMillis() / 1e3 + " s", e)
                    : new IOException("the connection ended after " + count + " bytes", e);
        } finally {
            waitsSince = 0;
        }
        if (read < 0 && length >= 0 && count != length) {
            throw new IOException("the connection ended after " + count + " of " + length + " bytes");
        }
        count += Math.max(0, read);
        return read;
    }

    @Override
    public void close() throws IOException {
        watch.interrupt();
        super.close();
    }
}
