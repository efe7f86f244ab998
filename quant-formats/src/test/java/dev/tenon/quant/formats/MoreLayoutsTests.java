package dev.tenon.quant.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A layout can say what the formats of ggml are that this module does not have: grids, signs, shifts and scales that
/// are small floats.
class MoreLayoutsTests {
    private static final Path DATA = Path.of(System.getenv().getOrDefault("TENON_SHARED", "../../shared"))
            .resolve("golden/quant-next");

    private enum Format {
        IQ2_XXS(() -> BlockLayout.of(
                        256,
                        66,
                        Numbers.unsigned(BitField.of(8).at(2).bytes(4, 1).bytes(8, 8)),
                        grid("iq2xxs_grid.u64.bin", 8),
                        Scale.f16(0, Numbers.unsigned(BitField.of(4).at(9, 4).bytes(8, 8)))
                                .with(0.25f, 0.125f))
                .withSigns(Numbers.unsigned(BitField.of(7).at(6).bits(4, 7).bytes(8, 8)))),
        IQ2_XS(() -> BlockLayout.of(
                        256,
                        74,
                        Numbers.unsigned(BitField.of(9).at(2).bytes(32, 2)),
                        grid("iq2xs_grid.u64.bin", 8),
                        Scale.f16(0, Numbers.unsigned(BitField.of(4).at(66).bits(16, 4)))
                                .with(0.25f, 0.125f))
                .withSigns(Numbers.unsigned(BitField.of(7).at(3, 1).bytes(32, 2)))),
        IQ2_S(() -> BlockLayout.of(
                        256,
                        82,
                        Numbers.unsigned(
                                BitField.of(8).at(2).bytes(32, 1),
                                BitField.of(2).at(66).bits(32, 2)),
                        grid("iq2s_grid.u64.bin", 8),
                        Scale.f16(0, Numbers.unsigned(BitField.of(4).at(74).bits(16, 4)))
                                .with(0.25f, 0.125f))
                .withSigns(Numbers.unsigned(BitField.of(1).at(34).bits(256, 1)))),
        IQ3_XXS(() -> BlockLayout.of(
                        256,
                        98,
                        Numbers.unsigned(BitField.of(8).at(2).bytes(64, 1)),
                        grid("iq3xxs_grid.u32.bin", 4),
                        Scale.f16(0, Numbers.unsigned(BitField.of(4).at(69, 4).bytes(8, 4)))
                                .with(0.5f, 0.25f))
                .withSigns(Numbers.unsigned(BitField.of(7).at(66).bits(4, 7).bytes(8, 4)))),
        IQ3_S(() -> BlockLayout.of(
                        256,
                        110,
                        Numbers.unsigned(
                                BitField.of(8).at(2).bytes(64, 1),
                                BitField.of(1).at(66).bits(64, 1)),
                        grid("iq3s_grid.u32.bin", 4),
                        Scale.f16(0, Numbers.unsigned(BitField.of(4).at(106).bits(8, 4)))
                                .with(2, 1))
                .withSigns(Numbers.unsigned(BitField.of(1).at(74).bits(256, 1)))),
        IQ1_S(() -> BlockLayout.of(
                        256,
                        50,
                        Numbers.unsigned(
                                BitField.of(8).at(2).bytes(32, 1),
                                BitField.of(3).at(34).bits(4, 3).bytes(8, 2)),
                        grid("iq1s_grid.i8x8.bin", 8),
                        Scale.f16(0, Numbers.unsigned(BitField.of(3).at(35, 4).bytes(8, 2)))
                                .with(2, 1))
                .withShifts(Scale.of(Numbers.unsigned(BitField.of(1).at(35, 7).bytes(8, 2)))
                        .with(-0.25f, 0.125f))),
        IQ1_M(() -> BlockLayout.of(
                        256,
                        56,
                        Numbers.unsigned(
                                BitField.of(8).bytes(32, 1),
                                BitField.of(3).at(32).bits(32, 4)),
                        grid("iq1s_grid.i8x8.bin", 8),
                        new Scale(
                                Optional.of(Numbers.of(
                                        Numbers.Type.F16,
                                        BitField.of(4).at(49, 4),
                                        BitField.of(4).at(51, 4),
                                        BitField.of(4).at(53, 4),
                                        BitField.of(4).at(55, 4))),
                                Numbers.unsigned(
                                        BitField.of(3).at(48).bits(4, 3).bytes(4, 2)),
                                2,
                                1))
                .withShifts(Scale.of(Numbers.unsigned(BitField.of(1).at(32, 3).bits(32, 4)))
                        .with(-0.25f, 0.125f))),
        NVFP4(() -> BlockLayout.of(
                64,
                36,
                Numbers.unsigned(BitField.of(4).at(4).bytes(8, 1).bits(2, 4).bytes(4, 8)),
                grid("e2m1_x2.i8.bin", 1),
                Scale.of(Numbers.of(Numbers.Type.UE4M3_HALF, BitField.of(8).bytes(4, 1)))));

        private final Supplier<BlockLayout> layout;

        Format(Supplier<BlockLayout> layout) {
            this.layout = layout;
        }
    }

    private static CodeBook grid(String file, int length) {
        return CodeBook.grid(length, read("grids/" + file));
    }

    private static byte[] read(String file) {
        try {
            return Files.readAllBytes(DATA.resolve(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theLayoutIsTheFormat(Format format) {
        assumeTrue(Files.isDirectory(DATA), DATA + " is not there; TENON_SHARED names the folder of shared data");
        BlockLayout layout = format.layout.get();
        byte[] blocks = read("dequant/" + format + ".blocks.bin");
        FloatBuffer expected = ByteBuffer.wrap(read("dequant/" + format + ".values.f32"))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();
        float[] values = new float[expected.capacity()];
        assertEquals(values.length / layout.size() * layout.bytes(), blocks.length);
        layout.decode(MemorySegment.ofArray(blocks), 0, values, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            assertEquals(
                    Float.floatToIntBits(expected.get(i)),
                    Float.floatToIntBits(values[i]),
                    format + " value " + i + ": " + values[i] + " for " + expected.get(i));
        }
    }
}
