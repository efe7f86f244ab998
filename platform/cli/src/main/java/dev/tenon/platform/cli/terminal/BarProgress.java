package dev.tenon.platform.cli.terminal;

import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.cli.text.Sizes;
import java.io.PrintStream;
import java.util.Locale;

/// A progress bar on a terminal, shown only if the task takes long. Safe for any thread.
///
/// It says what is known: `model.gguf  43% [####      ]  421.30 MiB of 967.00 MiB  12.34 MiB/s  0:44 left`, or, where
/// the total is not known, what was done and how long it took so far.
public final class BarProgress implements Progress {
    /// How long a task lasts before the bar appears.
    static final long DELAY_MILLIS = 700;

    private static final long EVERY_MILLIS = 100;
    private static final int WIDEST = 30;
    private static final int NARROWEST = 5;
    private static final double NANOS = 1e9;

    private final String task;
    private final String unit;
    private final PrintStream terminal;
    private final int columns;
    private final long start = System.nanoTime();
    /// What was done when the work began, such as the part of a file that an earlier download got; -1 before.
    private long first = -1;
    private long firstTime;
    private long done;
    private long total;
    private int shown;
    private boolean closed;

    public BarProgress(String task, long total, String unit, PrintStream terminal, int columns) {
        this(task, total, unit, terminal, columns, DELAY_MILLIS);
    }

    public BarProgress(String task, long total, String unit, PrintStream terminal, int columns, long delayMillis) {
        this.task = task;
        this.total = total;
        this.unit = unit;
        this.terminal = terminal;
        this.columns = columns;
        Thread.ofPlatform().daemon().name("tenon-progress").start(() -> show(delayMillis));
    }

    private synchronized void show(long delayMillis) {
        try {
            for (long left = delayMillis; !closed && left > 0; ) {
                wait(left);
                left = delayMillis - (System.nanoTime() - start) / 1_000_000;
            }
            while (!closed) {
                draw();
                wait(EVERY_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does; the thread ends
        }
    }

    private void draw() {
        long now = System.nanoTime();
        double rate = first < 0 || now == firstTime ? 0 : (done - first) / ((now - firstTime) / NANOS);
        String line = line(task, unit, done, total, rate, (now - start) / NANOS, columns);
        terminal.print("\r" + line + " ".repeat(Math.max(0, shown - line.length())));
        terminal.flush();
        shown = line.length();
    }

    /// {@return what the terminal shows}
    ///
    /// @param task what is being done
    /// @param unit what is counted
    /// @param done how much of it
    /// @param total of how much; not above 0 when unknown
    /// @param rate how much in a second; 0 when unknown
    /// @param seconds how long it took so far
    /// @param columns how long the line may be
    static String line(String task, String unit, long done, long total, double rate, double seconds, int columns) {
        boolean known = total > 0;
        boolean bytes = unit.equals("bytes");
        StringBuilder tail = new StringBuilder();
        if (known) {
            tail.append("  ")
                    .append(bytes ? Sizes.bytes(done) + " of " + Sizes.bytes(total) : done + "/" + total + " " + unit);
        } else if (done > 0) {
            tail.append("  ").append(bytes ? Sizes.bytes(done) : (done + " " + unit).strip());
        }
        if (rate > 0 && bytes) {
            tail.append("  ").append(Sizes.bytes((long) rate)).append("/s");
        }
        if (known && rate > 0) {
            tail.append("  ").append(time(Math.max(0, total - done) / rate)).append(" left");
        } else {
            tail.append("  ").append(time(seconds));
        }
        String head = task;
        if (known) {
            double part = Math.clamp((double) done / total, 0, 1);
            head += String.format(Locale.ROOT, " %3d%%", (int) (100 * part));
            int width = Math.min(WIDEST, columns - head.length() - tail.length() - 3);
            if (width >= NARROWEST) {
                int full = (int) (width * part);
                head += " [" + "#".repeat(full) + " ".repeat(width - full) + "]";
            }
        }
        String line = head + tail;
        return line.length() <= columns ? line : line.substring(0, columns);
    }

    private static String time(double seconds) {
        long all = (long) Math.ceil(seconds);
        return all < 3600
                ? String.format(Locale.ROOT, "%d:%02d", all / 60, all % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", all / 3600, all / 60 % 60, all % 60);
    }

    @Override
    public synchronized void to(long newDone) {
        if (first < 0) {
            first = newDone;
            firstTime = System.nanoTime();
        }
        done = newDone;
    }

    @Override
    public synchronized void to(long newDone, long newTotal) {
        total = newTotal;
        to(newDone);
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        notifyAll();
        if (shown > 0) {
            terminal.print("\r" + " ".repeat(shown) + "\r");
            terminal.flush();
        }
    }
}
