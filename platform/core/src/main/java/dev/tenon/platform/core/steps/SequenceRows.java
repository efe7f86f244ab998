package dev.tenon.platform.core.steps;

import dev.tenon.api.device.StepInput;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// The rows of a sequence, which stand in the place of some of its tokens, and how they move the places of the tokens
/// after them. Guarded as its sequence is.
final class SequenceRows {
    private final List<Placed> blocks = new ArrayList<>();

    /// @param start index of the token of the first row
    /// @param end index after the token of the last one that is there
    record Placed(int start, int end, RowBlock block) {
        private boolean has(int index) {
            return start <= index && index < end;
        }
    }

    /// {@return all of them, in order; unmodifiable}
    List<Placed> blocks() {
        return Collections.unmodifiableList(blocks);
    }

    /// {@return whether there are any}
    boolean any() {
        return !blocks.isEmpty();
    }

    /// Adds rows of a block after the others, or more of the last one.
    ///
    /// @param start index of the token of the block's first row
    /// @param end index after the token of the last row that is there then
    void add(int start, int end, RowBlock block) {
        if (any() && blocks.getLast().start == start) {
            blocks.removeLast();
        }
        blocks.add(new Placed(start, end, block));
    }

    /// {@return what adds the row of a token again, if it has one, once it was cut off}
    Runnable again(int index) {
        Placed at = at(index);
        return at == null ? () -> {} : () -> add(at.start, index + 1, at.block);
    }

    /// Forgets the rows whose tokens are gone.
    void cut(int length) {
        while (any() && blocks.getLast().end > length) {
            Placed last = blocks.removeLast();
            if (last.start < length) {
                blocks.add(new Placed(last.start, length, last.block));
            }
        }
    }

    /// {@return the row of a token; null if it has none}
    float[] row(int index) {
        Placed at = at(index);
        return at == null ? null : at.block.row(index - at.start);
    }

    private Placed at(int index) {
        for (int i = blocks.size() - 1; i >= 0; i--) {
            if (blocks.get(i).has(index)) {
                return blocks.get(i);
            }
        }
        return null;
    }

    /// {@return where a token stands along the axes of time, height and width; null where that is its position}
    int[] place(int index) {
        int moved = 0;
        for (Placed each : blocks) {
            if (each.has(index)) {
                int[] place = each.block.place(index - each.start);
                for (int axis = 0; axis < place.length; axis++) {
                    place[axis] += each.start - moved;
                }
                return place;
            }
            if (each.end <= index) {
                moved += each.block.length() - each.block.places();
            }
        }
        int place = index - moved;
        return moved == 0 ? null : new int[] {place, place, place};
    }

    /// {@return whether rows that see each other are on both sides of an index}
    boolean cutAt(int index) {
        Placed at = at(index);
        return at != null && at.block.together() && at.start < index;
    }

    /// {@return the last index up to which rows that see each other are whole}
    int wholeTo(int index) {
        return cutAt(index) ? at(index).start : index;
    }

    /// {@return the first index from which rows that see each other are whole}
    int wholeFrom(int index) {
        return cutAt(index) ? at(index).end : index;
    }

    /// Tells a step where the token that was added to it last stands, and which it sees.
    void placeIn(StepInput input, int index) {
        int[] place = place(index);
        if (place != null) {
            input.place(place);
        }
        Placed at = at(index);
        if (at != null && at.block.together()) {
            input.span(at.start, at.end - 1);
        }
    }
}
