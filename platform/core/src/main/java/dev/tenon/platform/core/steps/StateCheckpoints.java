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
/// beside those of the sequences, and in host memory where these do not suffice. What was used least recently moves
/// from the device to the host, and from there away. Guarded by the loop's lock; used while nothing runs.
final class StateCheckpoints implements AutoCloseable {
    private final StateSlots slots;
    private final int tokensPerPage;
    private final Arena arena = Arena.ofShared();
    private final Deque<Integer> freeSlots = new ArrayDeque<>();
    private final Deque<MemorySegment> freeHost = new ArrayDeque<>();
    private final HostCopies copies;
    /// Pieces of host memory that may still be taken.
    private long hostLeft;
    /// From the least recently used one.
    private final Map<Page, Integer> onDevice = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<Page, MemorySegment> onHost = new LinkedHashMap<>(16, 0.75f, true);

    /// @param slots the plan's
    /// @param first the first slot that is no sequence's; all from there on are used
    /// @param hostBytes most bytes of host memory
    /// @param tokensPerPage tokens of a page
    StateCheckpoints(StateSlots slots, int first, long hostBytes, int tokensPerPage) {
        this.slots = slots;
        this.tokensPerPage = tokensPerPage;
        for (int slot = first; slot < slots.slotCount(); slot++) {
            freeSlots.add(slot);
        }
        copies = slots.hostCopies().orElse(null);
        hostLeft = copies == null ? 0 : hostBytes / Math.max(1, slots.slotBytes());
    }

    /// {@return whether there is a copy of the state at the end of a page}
    boolean has(Page page) {
        return onDevice.containsKey(page) || onHost.containsKey(page);
    }

    /// Copies a state that is at the end of a page, if it is not here yet.
    void keep(Page page, int slot) {
        if (onDevice.get(page) != null || onHost.get(page) != null || freeSlots.isEmpty() && onDevice.isEmpty()) {
            return;
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
        if (freeHost.isEmpty() && hostLeft > 0) {
            hostLeft--;
            freeHost.add(arena.allocate(slots.slotBytes()));
        } else if (freeHost.isEmpty() && !onHost.isEmpty()) {
            freeHost.add(removeFirst(onHost).getValue());
        }
        if (!freeHost.isEmpty()) {
            MemorySegment piece = freeHost.remove();
            copies.read(oldest.getValue(), piece);
            onHost.put(oldest.getKey(), piece);
        }
        freeSlots.add(oldest.getValue());
    }

    private static <T> Map.Entry<Page, T> removeFirst(Map<Page, T> from) {
        Iterator<Map.Entry<Page, T>> entries = from.entrySet().iterator();
        Map.Entry<Page, T> first = Map.Entry.copyOf(entries.next());
        entries.remove();
        return first;
    }

    /// Puts a slot into the state at the end of a page, of which there is a copy.
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
    }

    /// {@return how many copies there are}
    int count() {
        return onDevice.size() + onHost.size();
    }

    /// Frees the host memory.
    @Override
    public void close() {
        arena.close();
    }
}
