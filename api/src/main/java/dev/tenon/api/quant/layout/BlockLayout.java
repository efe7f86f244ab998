package dev.tenon.api.quant.layout;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// How a block of a weight format is laid out, and what its values are:
///
/// ```
/// number[i] = level[i] - zero, or what the code book has for it
/// value[i]  = scale[g] * (sign[i] * number[i] + shift[g]) - minimum[g]
/// ```
///
/// in float32, every product and every sum rounded. Scales, minimums and shifts are those of a group: a block
/// of 256 values with 16 scales has groups of 16. What a format does not have is left out.
///
/// A layout is data: equal ones give equal code. Backends compile it, they do not interpret it. Immutable;
/// safe for any thread.
public final class BlockLayout {
    /// Bits of a sign index of eight values.
    private static final int SIGN_INDEX = 7;

    /// What a layout is made of; see the methods of the same names.
    private record Parts(
            int size,
            int bytes,
            Numbers levels,
            int zero,
            Optional<CodeBook> codeBook,
            Optional<Numbers> signs,
            Optional<Scale> scales,
            Optional<Scale> minimums,
            Optional<Scale> shifts) {}

    private final Parts parts;
    /// Made when it is first asked for: most layouts of an installation are never decoded.
    private volatile @Nullable LayoutDecoder decoder;

    private BlockLayout(Parts parts) {
        this.parts = parts;
        check();
    }

    private void check() {
        int size = size();
        require(size > 0 && bytes() > 0, size + " values in " + bytes() + " bytes");
        Numbers levels = levels();
        int each = codeBook().map(CodeBook::length).orElse(1);
        require(levels.count() * each == size, levels.count() + " levels for " + size + " values");
        require(
                levels.type().whole() == scales().isPresent()
                        && (scales().isPresent()
                                || codeBook().isEmpty()
                                        && signs().isEmpty()
                                        && minimums().isEmpty()
                                        && shifts().isEmpty()),
                "levels of type " + levels.type() + (scales().isPresent() ? " with scales" : " without scales"));
        codeBook()
                .ifPresent(book -> require(
                        levels.type() == Numbers.Type.UNSIGNED && book.levels() == 1 << levels.width(),
                        "a code book of " + book.levels() + " levels for levels of " + levels.width() + " bits"));
        signs().ifPresent(bits -> require(
                bits.width() == 1 && bits.count() == size
                        || bits.width() == SIGN_INDEX && bits.count() * Byte.SIZE == size,
                bits.count() + " signs of " + bits.width() + " bits for " + size + " values"));
        checkGroups("scales", scales());
        checkGroups("minimums", minimums());
        checkGroups("shifts", shifts());
        int end = Math.max(levels.end(), signs().map(Numbers::end).orElse(0));
        end = Math.max(end, scales().map(Scale::end).orElse(0));
        end = Math.max(end, minimums().map(Scale::end).orElse(0));
        end = Math.max(end, shifts().map(Scale::end).orElse(0));
        require(end <= Byte.SIZE * bytes(), "bit " + (end - 1) + " of a block of " + bytes() + " bytes");
    }

    private void checkGroups(String what, Optional<Scale> scale) {
        scale.ifPresent(given -> require(size() % given.count() == 0, given.count() + " " + what + " for " + size()));
    }

    private static void require(boolean holds, String found) {
        if (!holds) {
            throw new IllegalArgumentException(found + "; that is no layout of a block");
        }
    }

    /// {@return a layout of levels and scales}
    ///
    /// @param size values of a block
    /// @param bytes bytes of a block
    /// @param levels one a value, whole numbers
    /// @param zero what is subtracted from levels
    /// @param scales the scales
    public static BlockLayout of(int size, int bytes, Numbers levels, int zero, Scale scales) {
        return of(size, bytes, levels, zero, Optional.empty(), Optional.of(scales));
    }

    /// {@return a layout of levels that stand for what a code book has, and of scales}
    ///
    /// @param size values of a block
    /// @param bytes bytes of a block
    /// @param levels one for as many values as an entry of the code book has
    /// @param codeBook what each number that a level's bits can be stands for
    /// @param scales the scales
    public static BlockLayout of(int size, int bytes, Numbers levels, CodeBook codeBook, Scale scales) {
        return of(size, bytes, levels, 0, Optional.of(codeBook), Optional.of(scales));
    }

    /// {@return a layout of values that are numbers as they are, each a block}
    ///
    /// @param type their type, which is not whole
    public static BlockLayout ofNumbers(Numbers.Type type) {
        Numbers number = Numbers.of(type, BitField.of(type.width()));
        return of(1, type.width() / Byte.SIZE, number, 0, Optional.empty(), Optional.empty());
    }

    private static BlockLayout of(
            int size, int bytes, Numbers levels, int zero, Optional<CodeBook> codeBook, Optional<Scale> scales) {
        return new BlockLayout(new Parts(
                size, bytes, levels, zero, codeBook, Optional.empty(), scales, Optional.empty(), Optional.empty()));
    }

    /// {@return the same, with minimums}
    ///
    /// @param subtracted what is subtracted
    public BlockLayout withMinimums(Scale subtracted) {
        return with(signs(), Optional.of(subtracted), shifts());
    }

    /// {@return the same, with signs}
    ///
    /// @param bits one bit a value, or seven for eight of them
    public BlockLayout withSigns(Numbers bits) {
        return with(Optional.of(bits), minimums(), shifts());
    }

    /// {@return the same, with shifts}
    ///
    /// @param added what is added to numbers
    public BlockLayout withShifts(Scale added) {
        return with(signs(), minimums(), Optional.of(added));
    }

    private BlockLayout with(Optional<Numbers> signs, Optional<Scale> minimums, Optional<Scale> shifts) {
        return new BlockLayout(
                new Parts(size(), bytes(), levels(), zero(), codeBook(), signs, scales(), minimums, shifts));
    }

    /// {@return values of a block}
    public int size() {
        return parts.size;
    }

    /// {@return bytes of a block}
    public int bytes() {
        return parts.bytes;
    }

    /// {@return the levels: one a value, or one for as many values as an entry of the code book has. Those of a type
    /// that is not whole are the values themselves}
    public Numbers levels() {
        return parts.levels;
    }

    /// {@return what is subtracted from levels; 0 with a code book}
    public int zero() {
        return parts.zero;
    }

    /// {@return what levels stand for}
    public Optional<CodeBook> codeBook() {
        return parts.codeBook;
    }

    /// {@return signs, of which 1 is negative: one bit a value, or seven bits for eight values, of which the eighth has
    /// the sign that makes the number of negative ones even}
    public Optional<Numbers> signs() {
        return parts.signs;
    }

    /// {@return the scales; empty where levels are the values}
    public Optional<Scale> scales() {
        return parts.scales;
    }

    /// {@return what is subtracted from scaled numbers}
    public Optional<Scale> minimums() {
        return parts.minimums;
    }

    /// {@return what is added to numbers before they are scaled}
    public Optional<Scale> shifts() {
        return parts.shifts;
    }

    /// {@return values under one scale; 1 where levels are the values}
    public int group() {
        return scales().map(scale -> size() / scale.count()).orElse(1);
    }

    /// Decodes elements to float32: the definition of the values, bit for bit. Puts nothing on the heap.
    ///
    /// @param source holds the blocks; borrowed; little-endian, of any alignment
    /// @param offsetBytes where the first block starts in `source`
    /// @param target receives the values
    /// @param targetOffset index of the first value in `target`
    /// @param n elements, whole blocks
    /// @throws IllegalArgumentException if `n` is not a multiple of the block size
    /// @throws IndexOutOfBoundsException if source or target are too small
    public void decode(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
        LayoutDecoder made = decoder;
        if (made == null) {
            made = new LayoutDecoder(this);
            decoder = made;
        }
        made.decode(source, offsetBytes, target, targetOffset, n);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof BlockLayout layout && layout.parts.equals(parts);
    }

    @Override
    public int hashCode() {
        return parts.hashCode();
    }

    @Override
    public String toString() {
        return parts.toString();
    }
}
