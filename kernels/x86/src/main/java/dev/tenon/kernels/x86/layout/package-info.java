/// Code for blocks of any format, made from the format's layout.
///
/// [LayoutCode] is the block code of a layout: it takes what the kernels need of it from [LevelCode] (levels),
/// [BlockScales] (scales and minimums) and [ColumnCode] (panels), none of which knows a format.
package dev.tenon.kernels.x86.layout;
