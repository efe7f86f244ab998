package dev.tenon.platform.core.media;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// What was encoded last, within a budget of bytes: those that were used least recently go first. Safe for any thread.
final class EncodedCache {
    private final long budget;
    private final Map<String, EncodedMedia> encoded = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    /// @param budget most bytes of rows
    EncodedCache(long budget) {
        this.budget = budget;
    }

    /// {@return what was made of a content, if it is still known}
    ///
    /// @param content a digest
    synchronized Optional<EncodedMedia> find(String content) {
        return Optional.ofNullable(encoded.get(content));
    }

    /// Remembers what was made of a content.
    synchronized void put(String content, EncodedMedia media) {
        EncodedMedia before = encoded.put(content, media);
        bytes += media.bytes() - (before == null ? 0 : before.bytes());
        for (Iterator<EncodedMedia> oldest = encoded.values().iterator(); bytes > budget; ) {
            bytes -= oldest.next().bytes();
            oldest.remove();
        }
    }
}
