package dev.tenon.platform.server.folder;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Progress;
import dev.tenon.platform.server.models.ModelStore.PullProgress;
import dev.tenon.platform.server.models.ModelStore.PullState;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Optional;

/// What a download for a request has of the command line: settings, with the server's own folder, and somebody who
/// hears how far it is. Nobody can be asked.
final class PullConsole implements Console {
    private final Console settings;
    private final Path folder;
    private final PullProgress progress;

    PullConsole(Console settings, Path folder, PullProgress progress) {
        this.settings = settings;
        this.folder = folder;
        this.progress = progress;
    }

    @Override
    public Optional<String> setting(String key) {
        return key.equals("models") ? Optional.of(folder.toString()) : settings.setting(key);
    }

    @Override
    public Progress progress(String task, long total, String unit) {
        boolean sum = task.equals("checksum");
        return new Progress() {
            @Override
            public void to(long done) {
                to(done, total);
            }

            @Override
            public void to(long done, long whole) {
                progress.at(
                        sum
                                ? PullState.of("verifying sha256 digest")
                                : new PullState("pulling " + task, task, done, whole));
            }

            @Override
            public void close() {
                // the next state follows
            }
        };
    }

    @Override
    public void note(String text) {
        progress.at(PullState.of(text));
    }

    @Override
    public PrintWriter out() {
        return new PrintWriter(Writer.nullWriter());
    }

    @Override
    public OutputStream outBytes() {
        return OutputStream.nullOutputStream();
    }

    @Override
    public PrintWriter err() {
        return out();
    }

    @Override
    public InputStream in() {
        return InputStream.nullInputStream();
    }

    @Override
    public boolean inIsTerminal() {
        return false;
    }

    @Override
    public boolean outIsTerminal() {
        return false;
    }

    @Override
    public boolean errIsTerminal() {
        return false;
    }

    @Override
    public boolean quiet() {
        return false;
    }

    @Override
    public String dim(String text) {
        return text;
    }

    @Override
    public Interrupt onInterrupt(Runnable action) {
        throw new UnsupportedOperationException("a download for a request ends with its thread's interruption");
    }

    @Override
    public Path model(String name) {
        throw new UnsupportedOperationException("a download needs no other model");
    }

    @Override
    public LoadedModel load(Engine engine, LoadRequest request) {
        throw new UnsupportedOperationException("a download loads nothing");
    }
}
