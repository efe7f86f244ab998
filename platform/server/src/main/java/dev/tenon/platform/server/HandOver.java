package dev.tenon.platform.server;

import dev.tenon.platform.core.control.SharedModel;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;

/// What a server leaves to the one that takes its place.
///
/// @param listener the channel that listens
/// @param models the loaded models; each is closed once by whom it is left to
public record HandOver(ServerSocketChannel listener, List<SharedModel> models) {
    /// {@return all parts, of classes that outlive the server's bundle}
    public List<AutoCloseable> parts() {
        List<AutoCloseable> parts = new ArrayList<>(models);
        parts.add(listener);
        return parts;
    }

    /// {@return what another version of the server left, or null}
    ///
    /// @param parts its [#parts()], or an empty list
    public static HandOver of(List<AutoCloseable> parts) {
        ServerSocketChannel listener = null;
        List<SharedModel> models = new ArrayList<>();
        for (AutoCloseable part : parts) {
            switch (part) {
                case ServerSocketChannel channel -> listener = channel;
                case SharedModel model -> models.add(model);
                default -> throw new IllegalArgumentException("no part of a server: " + part.getClass());
            }
        }
        return listener == null ? null : new HandOver(listener, models);
    }
}
