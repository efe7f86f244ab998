package dev.tenon.backend.nv.tegra.emulator.kernels;

import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.BYTE;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.FLOAT;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.INT;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.SHORT;
import static dev.tenon.backend.nv.tegra.emulator.kernels.Arrays.f16;

import dev.tenon.backend.nv.tegra.emulator.launch.KernelLaunch;
import java.lang.foreign.MemorySegment;

/// Keys or values of a layer, `[page][kvHead][64][row]`, found through page tables,
/// `[sequence][maxPages]`.
///
/// @param launch the launch
/// @param type `f32`, `f16` or `q8_0`
/// @param base address of the keys or the values
/// @param pages address of the page tables
/// @param maxPages entries of a table
/// @param heads kv heads
/// @param length elements of a row
record KvCache(KernelLaunch launch, String type, long base, long pages, int maxPages, int heads, int length) {
    private static final int PAGE = 64;
    private static final int BLOCK = 32;

    private int rowBytes() {
        int padded = padded();
        return switch (type) {
            case "f32" -> (length * 4 + 15) / 16 * 16;
            case "f16" -> (length * 2 + 15) / 16 * 16;
            default -> padded + padded / 16;
        };
    }

    private int padded() {
        return (length + BLOCK - 1) / BLOCK * BLOCK;
    }

    private MemorySegment row(int sequence, int position, int head) {
        long entry = pages + 4 * ((long) sequence * maxPages + position / PAGE);
        long page = launch.memory(entry, 4).get(INT, 0);
        int bytes = rowBytes();
        return launch.memory(base + ((page * heads + head) * PAGE + position % PAGE) * bytes, bytes);
    }

    /// Reads a row.
    void read(int sequence, int position, int head, float[] out) {
        MemorySegment row = row(sequence, position, head);
        for (int i = 0; i < length; i++) {
            out[i] = switch (type) {
                case "f32" -> row.get(FLOAT, 4L * i);
                case "f16" -> f16(row, 2L * i);
                default -> f16(row, padded() + 2L * (i / BLOCK)) * row.get(BYTE, i);
            };
        }
    }

    /// Writes a row: `length` elements of `from`.
    void write(int sequence, int position, int head, float[] from, int first) {
        MemorySegment row = row(sequence, position, head);
        switch (type) {
            case "f32" -> {
                for (int i = 0; i < length; i++) {
                    row.set(FLOAT, 4L * i, from[first + i]);
                }
            }
            case "f16" -> {
                for (int i = 0; i < length; i++) {
                    row.set(SHORT, 2L * i, Float.floatToFloat16(from[first + i]));
                }
            }
            default -> {
                for (int block = 0; block < padded() / BLOCK; block++) {
                    quantise(row, block, from, first);
                }
            }
        }
    }

    private void quantise(MemorySegment row, int block, float[] from, int first) {
        float largest = 0;
        for (int i = block * BLOCK; i < Math.min(length, (block + 1) * BLOCK); i++) {
            largest = Math.max(largest, Math.abs(from[first + i]));
        }
        float inverse = largest > 0 ? 127 / largest : 0;
        for (int i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
            float value = i < length ? from[first + i] : 0;
            row.set(BYTE, i, (byte) Math.rint(value * inverse));
        }
        row.set(SHORT, padded() + 2L * block, Float.floatToFloat16(largest / 127));
    }
}
