package dev.tenon.platform.core.steps;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.StateSlots;
import dev.tenon.platform.core.steps.PrefixCache.Page;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/// Copies of states at the ends of shared pages, from which sequences go on that begin alike: in slots of the device
/// beside those of the sequences, in host memory where these do not suffice, and in a [file][StateFile]. What was used
/// least recently moves from the device to the host, from there to the file, and from there away. A copy is at one of
/// these places, and comes back to the host before it is used. Guarded by the loop's lock; used while nothing runs.
final class StateCheckpoints implements AutoCloseable {
    private final StateSlots slots;
    private final int tokensPerPage;
    private final Arena arena = Arena.ofShared();
    private final Deque<Integer> freeSlots = new ArrayDeque<>();
    private final Deque<MemorySegment> freeHost = new ArrayDeque<>();
    private final HostCopies copies;
    /// Pieces of host memory that may still be taken.
    private long hostLeft;
    /// Null if there is none.
    private final StateFile<Page> file;
    /// What running a token of a prompt takes; 0 as long as that is not known.
    private double tokenNanos;
    /// From the least recently used one.
    private final Map<Page, Integer> onDevice = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<Page, MemorySegment> onHost = new LinkedHashMap<>(16, 0.75f, true);

    /// @param slots the plan's
    /// @param first the first slot that is no sequence's; all from there on are used
    /// @param limits of what they take besides
    /// @param tokensPerPage tokens of a page
    StateCheckpoints(StateSlots slots, int first, CheckpointLimits limits, int tokensPerPage) {
        this.slots = slots;
        this.tokensPerPage = tokensPerPage;
        for (int slot = first; slot < slots.slotCount(); slot++) {
            freeSlots.add(slot);
        }
        copies = slots.hostCopies().orElse(null);
        long bytes = Math.max(1, slots.slotBytes());
        boolean spills = copies != null && freeSlots.size() > 0 && limits.diskBytes() >= bytes;
        file = spills ? new StateFile<>(limits.folder(), limits.diskBytes(), bytes, arena) : null;
        // What comes from the file or goes there is on the host.
        hostLeft = copies == null ? 0 : Math.max(spills ? 1 : 0, limits.hostBytes() / bytes);
    }

    /// Notes what running a token of a prompt takes.
    ///
    /// @param nanos 0 as long as that is not known
    void tokenNanos(double nanos) {
        tokenNanos = nanos;
    }

    /// {@return whether there is a copy of the state at the end of a page}
    boolean has(Page page) {
        return inMemory(page) || file != null && file.has(page);
    }

    /// {@return whether there is one that need not be read}
    boolean inMemory(Page page) {
        return onDevice.containsKey(page) || onHost.containsKey(page);
    }

    /// Reads the copy of the state at the end of a page, if it is in the file, unless running the tokens again takes
    /// less time.
    ///
    /// @param tokens how many would run again
    /// @return whether it is in memory
    boolean fetch(Page page, int tokens) {
        boolean wanted = !inMemory(page) && tokens > 0;
        if (wanted && file.isWorthReading(tokenNanos == 0 ? Long.MAX_VALUE : (long) (tokenNanos * tokens))) {
            MemorySegment piece = file.take(page);
            if (piece != null) {
                file.give(hostPiece());
                onHost.put(page, piece);
            }
        }
        return inMemory(page);
    }

    /// Copies a state that is at the end of a page, if it is not here yet.
    void keep(Page page, int slot) {
        if (onDevice.get(page) != null || onHost.get(page) != null || freeSlots.isEmpty() && onDevice.isEmpty()) {
            return;
        }
        if (file != null) {
            file.drop(page);
        }
        if (freeSlots.isEmpty()) {
            moveOut();
        }
        int copy = freeSlots.remove();
        slots.copy(slot, copy);
        onDevice.put(page, copy);
    }

    /// Moves the copy that was used least recently from the device to the host, or away.
    private void moveOut() {
        Map.Entry<Page, Integer> oldest = removeFirst(onDevice);
        MemorySegment piece = hostPiece();
        if (piece != null) {
            copies.read(oldest.getValue(), piece);
            onHost.put(oldest.getKey(), piece);
        }
        freeSlots.add(oldest.getValue());
    }

    /// {@return host memory for a copy, maybe that of the one that was used least recently, which moves to the file or
    ///     away; null if there is none}
    private MemorySegment hostPiece() {
        if (freeHost.isEmpty() && hostLeft > 0) {
            hostLeft--;
            freeHost.add(arena.allocate(slots.slotBytes()));
        } else if (freeHost.isEmpty() && !onHost.isEmpty()) {
            Map.Entry<Page, MemorySegment> oldest = removeFirst(onHost);
            freeHost.add(file == null ? oldest.getValue() : file.put(oldest.getKey(), oldest.getValue()));
        }
        return freeHost.poll();
    }

    private static <T> Map.Entry<Page, T> removeFirst(Map<Page, T> from) {
        Iterator<Map.Entry<Page, T>> entries = from.entrySet().iterator();
        Map.Entry<Page, T> first = Map.Entry.copyOf(entries.next());
        entries.remove();
        return first;
    }

    /// Puts a slot into the state at the end of a page, of which there is a copy in memory.
    void restore(Page page, int slot) {
        Integer copy = onDevice.get(page);
        if (copy != null) {
            slots.copy(copy, slot);
        } else {
            copies.write(slot, page.depth() * tokensPerPage, onHost.get(page));
        }
    }

    /// Forgets the copy at the end of a page, if there is one.
    void drop(Page page) {
        Integer copy = onDevice.remove(page);
        MemorySegment piece = onHost.remove(page);
        if (copy != null) {
            freeSlots.add(copy);
        }
        if (piece != null) {
            freeHost.add(piece);
        }
        if (file != null) {
            file.drop(page);
        }
    }

    /// {@return how many copies there are}
    int count() {
        return onDevice.size() + onHost.size() + (file == null ? 0 : file.count());
    }

    /// Frees the host memory and the file.
    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
        arena.close();
    }
}
