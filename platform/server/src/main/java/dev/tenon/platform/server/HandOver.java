package dev.tenon.platform.server;

import dev.tenon.platform.core.control.SharedModel;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentMap;

/// What a server shares with the one that takes its place.
///
/// @param listener the channel that listens
/// @param models the loaded models; each is closed once by whom it is given to
/// @param counts counters and histograms, which both go on with
public record HandOver(ServerSocketChannel listener, List<SharedModel> models, ConcurrentMap<String, Object[]> counts) {
    /// {@return all parts, of classes that outlive the server's bundle}
    public List<Object> parts() {
        List<Object> parts = new ArrayList<>(models);
        parts.add(listener);
        parts.add(counts);
        return parts;
    }

    /// {@return what another version of the server shares, or null}
    ///
    /// @param parts its [#parts()], or an empty list
    @SuppressWarnings("unchecked") // the only map that a server shares
    public static HandOver of(List<Object> parts) {
        ServerSocketChannel listener = null;
        List<SharedModel> models = new ArrayList<>();
        ConcurrentMap<String, Object[]> counts = null;
        for (Object part : parts) {
            switch (part) {
                case ServerSocketChannel channel -> listener = channel;
                case SharedModel model -> models.add(model);
                case ConcurrentMap<?, ?> map -> counts = (ConcurrentMap<String, Object[]>) map;
                default -> throw new IllegalArgumentException("no part of a server: " + part.getClass());
            }
        }
        return listener == null ? null : new HandOver(listener, models, counts);
    }
}
