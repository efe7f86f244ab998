package dev.tenon.kernels.x86;

/// How unpacked weights of some rows lie in scratch memory, for the panel kernels.
///
/// ```
/// levels  uint8   [n / 4][rows][4]            four neighbouring weights of all rows fill two registers
///         int16   [n / 2][rows][2]            two, where levels are words
/// scales  float32 [n / G][rows]               without minimums
///         float32 [n / G][2][rows]            scale, minimum
/// ```
///
/// @param rows rows of a panel: twice the 32-bit lanes of a register
/// @param many tokens of the widest panel function
/// @param some tokens of the middle one
/// @param few tokens of the narrow one
record PanelShape(int rows, int many, int some, int few) {
    /// Bytes of the temporary memory for unpacking.
    static final int TEMP_BYTES = 10 * 1024;
    /// Where scales and minimums are in it.
    static final int TEMP_SCALES = 8 * 1024;
    static final int TEMP_MINS = 9 * 1024;

    /// The shape with AVX-512.
    static final PanelShape WIDE = new PanelShape(32, 12, 8, 4);

    /// {@return bytes of four weights, or of one float, of all rows}
    int stride() {
        return rows * Float.BYTES;
    }

    /// {@return rows that are unpacked at a time, one register's lanes}
    int half() {
        return rows / 2;
    }

    /// {@return bytes of levels in a panel}
    ///
    /// @param n elements in a row
    long levelBytes(BlockCode format, int n) {
        return PackCode.scalesOffset(format, n) / 4 * stride();
    }

    /// {@return bytes of scales and minimums of a group of the panel's rows}
    int scaleStride(BlockCode format) {
        return format.mins ? 2 * stride() : stride();
    }

    /// {@return bytes of a panel}
    ///
    /// @param n elements in a row
    long panelBytes(BlockCode format, int n) {
        return levelBytes(format, n) + PackCode.spans(n) * BlockCode.SPAN / format.group * scaleStride(format);
    }
}
