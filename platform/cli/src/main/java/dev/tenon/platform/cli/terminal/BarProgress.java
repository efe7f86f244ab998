package dev.tenon.platform.cli.terminal;

import dev.tenon.platform.cli.Progress;
import java.io.PrintStream;
import java.time.Duration;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/// A progress bar on a terminal, shown only if the task takes long. Safe for any thread.
public final class BarProgress implements Progress {
    /// How long a task lasts before the bar appears.
    static final long DELAY_MILLIS = 700;

    private static final long MIB = 1 << 20;

    private final String task;
    private final String unit;
    private final PrintStream terminal;
    private final int columns;
    private final long delayMillis;
    private final Thread timer;
    private long done;
    private long total;
    private ProgressBar bar;
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
        this.delayMillis = delayMillis;
        this.timer = Thread.ofPlatform().daemon().name("tenon-progress").start(this::appear);
    }

    private void appear() {
        try {
            Thread.sleep(delayMillis);
        } catch (InterruptedException e) {
            return;
        }
        synchronized (this) {
            if (closed) {
                return;
            }
            boolean bytes = unit.equals("bytes");
            ProgressBarBuilder builder = new ProgressBarBuilder()
                    .setTaskName(task)
                    .setInitialMax(total)
                    .setUpdateIntervalMillis(100)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUnit(bytes ? " MiB" : " " + unit, bytes ? MIB : 1)
                    .clearDisplayOnFinish()
                    .startsFrom(0, Duration.ofMillis(delayMillis))
                    .setConsumer(new Line(terminal, columns));
            if (bytes) {
                builder.showSpeed();
            }
            bar = builder.build();
            bar.stepTo(done);
        }
    }

    @Override
    public synchronized void to(long newDone) {
        done = newDone;
        if (bar != null && !closed) {
            bar.stepTo(newDone);
        }
    }

    @Override
    public synchronized void to(long newDone, long newTotal) {
        if (newTotal != total) {
            total = newTotal;
            if (bar != null && !closed) {
                bar.maxHint(newTotal);
            }
        }
        to(newDone);
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (bar != null) {
                bar.close();
            }
        }
        timer.interrupt();
    }

    /// One line of a terminal, empty again at the end.
    private static final class Line extends ConsoleProgressBarConsumer {
        private final PrintStream terminal;

        Line(PrintStream terminal, int columns) {
            super(terminal, columns);
            this.terminal = terminal;
        }

        @Override
        public void close() {
            clear();
            terminal.flush();
        }
    }
}
