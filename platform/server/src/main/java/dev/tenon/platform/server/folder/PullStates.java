package dev.tenon.platform.server.folder;

import dev.tenon.platform.hub.PullListener;
import dev.tenon.platform.server.models.ModelStore.PullProgress;
import dev.tenon.platform.server.models.ModelStore.PullState;

/// Tells requests how far a download is. Nobody can be asked.
///
/// @param progress hears it
record PullStates(PullProgress progress) implements PullListener {
    @Override
    public Task begin(String name, long bytes) {
        boolean sum = name.equals("checksum");
        return (done, total) -> progress.at(
                sum ? PullState.of("verifying sha256 digest") : new PullState("pulling " + name, name, done, total));
    }

    @Override
    public void note(String text) {
        progress.at(PullState.of(text));
    }
}
