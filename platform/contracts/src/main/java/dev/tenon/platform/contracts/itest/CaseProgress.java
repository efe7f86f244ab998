package dev.tenon.platform.contracts.itest;

import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.contracts.itest.ContractRun.Case;
import dev.tenon.platform.contracts.itest.ContractRun.Outcome;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Says on standard error how far contracts are: each failure at once, and beside that a bar on a
/// terminal, else a line now and then. Called by one thread at a time.
public final class CaseProgress implements Consumer<Case>, AutoCloseable {
    /// Time between two lines.
    private static final long BETWEEN_NANOS = 10_000_000_000L;

    private final Consumer<String> note;
    private final boolean lines;
    private final LongSupplier clock;
    private final Progress bar;
    private final long begin;
    private long lastLine;
    private long cases;

    /// Begins.
    ///
    /// @param console where to say it
    public CaseProgress(Console console) {
        this(console::note, console.progress("itest", -1, "cases"), !console.errIsTerminal(), System::nanoTime);
    }

    CaseProgress(Consumer<String> note, Progress bar, boolean lines, LongSupplier clock) {
        this.note = note;
        this.lines = lines;
        this.clock = clock;
        this.bar = bar;
        this.begin = clock.getAsLong();
        this.lastLine = begin;
    }

    @Override
    public void accept(Case ended) {
        cases++;
        bar.to(cases);
        if (ended.outcome() == Outcome.FAILED) {
            note.accept("Failed: " + ended.title());
        }
        long now = clock.getAsLong();
        if (lines && now - lastLine >= BETWEEN_NANOS) {
            lastLine = now;
            note.accept(String.format(
                    Locale.ROOT, "%d cases in %.0f s; last %s", cases, (now - begin) / 1e9, ended.title()));
        }
    }

    @Override
    public void close() {
        bar.close();
    }
}
