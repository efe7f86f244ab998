package dev.tenon.platform.core.engine;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.KvPages;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// Pages that hold tokens.
///
/// @param layout what tells copies of them apart
/// @param pages `[pages][tokens of a page]`
record FakePages(String layout, int[][] pages) implements KvPages {
    @Override
    public int tokensPerPage() {
        return FakeBackend.PAGE;
    }

    @Override
    public int pageCount() {
        return pages.length;
    }

    @Override
    public long pageBytes() {
        return FakeBackend.PAGE * 4L;
    }

    @Override
    public void copy(int from, int to) {
        pages[to] = pages[from].clone();
    }

    @Override
    public Optional<HostCopies> hostCopies() {
        return Optional.of(new FakeCopies(
                layout,
                (page, to) -> MemorySegment.copy(pages[page], 0, to, JAVA_INT, 0, FakeBackend.PAGE),
                (page, tokens, from) -> MemorySegment.copy(from, JAVA_INT, 0, pages[page], 0, FakeBackend.PAGE)));
    }
}
