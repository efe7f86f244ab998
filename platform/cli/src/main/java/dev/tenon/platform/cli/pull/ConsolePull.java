package dev.tenon.platform.cli.pull;

import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.hub.PullListener;
import java.nio.file.Path;

/// Shows a download on the console, and asks there.
///
/// @param console the console
/// @param printed whether the files' paths are printed
record ConsolePull(Console console, boolean printed) implements PullListener {
    @Override
    public Task begin(String name, long bytes) {
        Progress bar = console.progress(name, bytes, "bytes");
        return new Task() {
            @Override
            public void to(long done, long total) {
                bar.to(done, total);
            }

            @Override
            public void close() {
                bar.close();
            }
        };
    }

    @Override
    public void note(String text) {
        console.note(text);
    }

    @Override
    public void retries(String reason) {
        if (console.errIsTerminal()) {
            console.note(reason + "; trying again.");
        }
    }

    @Override
    public void stored(Path file) {
        if (printed) {
            console.out().println(file);
        }
    }

    @Override
    public boolean mayReplace(Path file) {
        return console.mayReplace(file, false);
    }
}
