package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.contracts.itest.ContractRun.Case;
import dev.tenon.platform.contracts.itest.ContractRun.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CaseProgressTests {
    private final List<String> notes = new ArrayList<>();
    private final Bar bar = new Bar();
    private long seconds;

    private static final class Bar implements Progress {
        long done;
        boolean closed;

        @Override
        public void to(long newDone) {
            done = newDone;
        }

        @Override
        public void to(long newDone, long newTotal) {
            done = newDone;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private CaseProgress progress(boolean lines) {
        return new CaseProgress(notes::add, bar, lines, () -> seconds * 1_000_000_000);
    }

    private static Case ended(String name, Outcome outcome) {
        return new Case("numbers", name, outcome, "", 0);
    }

    @Test
    void withoutATerminalALineSaysEveryTenSecondsHowFarItIs() {
        try (CaseProgress progress = progress(true)) {
            seconds = 9;
            progress.accept(ended("a", Outcome.PASSED));
            seconds = 12;
            progress.accept(ended("b", Outcome.SKIPPED));
            seconds = 21;
            progress.accept(ended("c", Outcome.PASSED));
            seconds = 22;
            progress.accept(ended("d", Outcome.PASSED));
        }
        assertEquals(List.of("2 cases in 12 s; last numbers: b", "4 cases in 22 s; last numbers: d"), notes);
    }

    @Test
    void onATerminalTheBarCounts() {
        try (CaseProgress progress = progress(false)) {
            seconds = 60;
            progress.accept(ended("a", Outcome.PASSED));
            progress.accept(ended("b", Outcome.PASSED));
        }
        assertEquals(List.of(), notes);
        assertEquals(2, bar.done);
        assertEquals(true, bar.closed);
    }

    @Test
    void aFailureIsSaidAtOnce() {
        try (CaseProgress progress = progress(true)) {
            progress.accept(ended("a", Outcome.FAILED));
        }
        assertEquals(List.of("Failed: numbers: a"), notes);
    }
}
