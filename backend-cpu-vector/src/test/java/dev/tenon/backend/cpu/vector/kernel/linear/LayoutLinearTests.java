package dev.tenon.backend.cpu.vector.kernel.linear;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Support;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.backend.cpu.vector.kernel.Species;
import dev.tenon.backend.cpu.vector.kernel.layout.SpanReader;
import dev.tenon.backend.cpu.vector.selection.KernelSet;
import dev.tenon.quant.formats.IQ1_MFormat;
import dev.tenon.quant.formats.IQ1_SFormat;
import dev.tenon.quant.formats.IQ2_SFormat;
import dev.tenon.quant.formats.IQ2_XSFormat;
import dev.tenon.quant.formats.IQ2_XXSFormat;
import dev.tenon.quant.formats.IQ3_SFormat;
import dev.tenon.quant.formats.IQ3_XXSFormat;
import dev.tenon.quant.formats.NVFP4Format;
import dev.tenon.quant.formats.TQ1_0Format;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Kernels that are made of layouts, against the layouts' decoder. Runs at the width that `tenon.vector.bits` gives;
/// the build runs it for every width.
class LayoutLinearTests {
    private static final int[] ROWS = {1, 5, 19};
    private static final int[] TOKENS = {1, 2, 3, 7};

    private record Named(String name, BlockLayout layout) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Named> layouts() {
        Stream<QuantFormat> others = Stream.of(
                new NVFP4Format(),
                new TQ1_0Format(),
                new IQ3_SFormat(),
                new IQ3_XXSFormat(),
                new IQ2_SFormat(),
                new IQ2_XSFormat(),
                new IQ2_XXSFormat(),
                new IQ1_MFormat(),
                new IQ1_SFormat());
        List<Named> all = new ArrayList<>(Stream.concat(KernelTests.formats(), others)
                .filter(format -> format.blockSize() > 1)
                .map(format -> new Named(format.id(), format.layout().orElseThrow()))
                .toList());
        Scale half = Scale.f16(0);
        add(all, "five bits in a row", BlockLayout.of(64, 42, row(5, 2, 64), 16, half));
        add(all, "seven bits in a row", BlockLayout.of(128, 114, row(7, 2, 128), 64, half));
        add(all, "one bit", BlockLayout.of(128, 18, row(1, 2, 128), CodeBook.of(-1, 1), half));
        add(all, "two bits, ten bytes", BlockLayout.of(32, 10, row(2, 2, 32), 1, half));
        add(all, "blocks of 16", BlockLayout.of(16, 10, row(4, 2, 16), 8, half));
        add(all, "four bits with a sign", BlockLayout.of(32, 18, signed(4, 32), 0, half));
        add(
                all,
                "three pieces far apart",
                BlockLayout.of(
                        64,
                        66,
                        Numbers.unsigned(
                                BitField.of(2).at(2).bytes(8, 8).bits(4, 2).bytes(2, 1),
                                BitField.of(1).at(4).bytes(8, 8).bits(8, 1),
                                BitField.of(3).at(5).bytes(8, 8).bits(8, 3)),
                        32,
                        half));
        add(all, "a large code book", BlockLayout.of(32, 34, row(8, 2, 32), book(1, 256, 127), half));
        add(
                all,
                "scales with a sign, minimums without",
                BlockLayout.of(64, 40, row(4, 8, 64), 0, Scale.f16(0, signed(6, 4, 2)))
                        .withMinimums(Scale.f16(6, row(2, 5, 2))));
        return all.stream();
    }

    private static void add(List<Named> all, String name, BlockLayout layout) {
        all.add(new Named(name, layout));
    }

    private static Numbers row(int width, int at, int count) {
        return Numbers.unsigned(BitField.of(width).at(at).bits(count, width));
    }

    private static Numbers signed(int width, int count) {
        return signed(width, count, 2);
    }

    private static Numbers signed(int width, int count, int at) {
        return Numbers.signed(BitField.of(width).at(at).bits(count, width));
    }

    private static CodeBook book(int length, int levels, int most) {
        Random random = new Random(length);
        byte[] numbers = new byte[length * levels];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (byte) (random.nextInt(2 * most + 1) - most);
        }
        return CodeBook.grid(length, numbers);
    }

    private static MemorySegment randomBlocks(BlockLayout layout, int elements, Random random, Arena arena) {
        MemorySegment data = arena.allocate((long) elements / layout.size() * layout.bytes() + 1)
                .asSlice(1);
        byte[] block = new byte[layout.bytes()];
        for (long at = 0; at < data.byteSize(); at += block.length) {
            random.nextBytes(block);
            layout.scales().ifPresent(scale -> makeFinite(scale, block, random));
            layout.minimums().ifPresent(scale -> makeFinite(scale, block, random));
            MemorySegment.copy(block, 0, data, ValueLayout.JAVA_BYTE, at, block.length);
        }
        return data;
    }

    private static void makeFinite(Scale scale, byte[] block, Random random) {
        for (Numbers numbers : List.of(scale.common().orElse(scale.numbers()), scale.numbers())) {
            for (int i = 0; i < numbers.count(); i++) {
                switch (numbers.type()) {
                    case F16 -> numbers.put(block, 0, i, Float.floatToFloat16(random.nextFloat() - 0.5f));
                    case E8M0_HALF -> numbers.put(block, 0, i, 120 + random.nextInt(16));
                    default -> {}
                }
            }
        }
    }

    private static LayoutLinear kernel(BlockLayout layout) {
        return new LayoutLinear("test", SpanReader.of(layout).orElseThrow());
    }

    private static int[] columns(LayoutLinear kernel) {
        return IntStream.of(16, 32, 64, 96, 128, 256, 320, 512 + 64, 1024)
                .filter(kernel::accepts)
                .toArray();
    }

    @Test
    void aFormatWithALayoutAloneGetsAKernel() {
        BlockLayout layout = BlockLayout.of(64, 42, row(5, 2, 64), 16, Scale.f16(0));
        QuantFormat format = new QuantFormat() {
            @Override
            public String id() {
                return "EXTRA";
            }

            @Override
            public int ggmlType() {
                return 1 << 20;
            }

            @Override
            public Optional<BlockLayout> layout() {
                return Optional.of(layout);
            }

            @Override
            public Optional<Quantizer> quantizer() {
                return Optional.empty();
            }
        };
        KernelSet.Linear kernel = new KernelSet(true).linear(format, 128);
        assertEquals("extra.layout.vector" + Species.BITS, kernel.name());
        assertEquals(Support.Level.FAST, kernel.level());
        assertSame(kernel.plain(), new KernelSet(true).linear(format, 64).plain());
        assertEquals("extra.scalar", new KernelSet(false).linear(format, 128).name());
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void everyElementIsTheLayoutsValue(Named named) {
        BlockLayout layout = named.layout;
        LayoutLinear kernel = kernel(layout);
        boolean exact = layout.minimums().isEmpty();
        int n = 512;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = randomBlocks(layout, n, new Random(5), arena);
            float[] values = new float[n];
            layout.decode(data, 0, values, 0, n);
            float[] x = new float[n * n];
            for (int i = 0; i < n; i++) {
                x[i * n + i] = 1;
            }
            float[] out = new float[n];
            kernel.run(
                    new LinearCall(MemorySegment.NULL)
                            .of(data, data.byteSize(), n)
                            .rows(0, 1)
                            .times(MemorySegment.NULL, n)
                            .to(new HostFloats(out), 0, 1),
                    x,
                    Scratch.of(kernel, n));
            for (int i = 0; i < n; i++) {
                assertEquals(values[i], out[i], exact ? 0 : 1e-5f * (1 + Math.abs(values[i])), "value " + i);
            }
            assertTrue(IntStream.range(0, n).anyMatch(i -> values[i] != 0));
        }
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void sumsAreThoseOfTheLayoutsValuesForAllShapes(Named named) {
        BlockLayout layout = named.layout;
        LayoutLinear kernel = kernel(layout);
        int[] columns = columns(kernel);
        assertTrue(columns.length > 1);
        for (int n : columns) {
            long rowBytes = (long) n / layout.size() * layout.bytes();
            for (int rows : ROWS) {
                Random random = new Random(31L * n + rows);
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment data = randomBlocks(layout, rows * n, random, arena);
                    float[] values = new float[rows * n];
                    layout.decode(data, 0, values, 0, values.length);
                    for (int tokens : TOKENS) {
                        float[] x = new float[tokens * n];
                        for (int i = 0; i < x.length; i++) {
                            x[i] = (float) random.nextGaussian();
                        }
                        float[] out = new float[tokens * rows];
                        kernel.run(
                                new LinearCall(MemorySegment.NULL)
                                        .of(data, rowBytes, n)
                                        .rows(0, rows)
                                        .times(MemorySegment.NULL, tokens)
                                        .to(new HostFloats(out), 0, rows),
                                x,
                                Scratch.of(kernel, n));
                        for (int t = 0; t < tokens; t++) {
                            for (int r = 0; r < rows; r++) {
                                double sum = 0;
                                double size = 0;
                                for (int i = 0; i < n; i++) {
                                    double product = (double) values[r * n + i] * x[t * n + i];
                                    sum += product;
                                    size += Math.abs(product);
                                }
                                String where = "rows " + rows + " columns " + n + " tokens " + tokens + ": row " + r
                                        + " token " + t;
                                assertEquals(sum, out[t * rows + r], 1e-6 * Math.sqrt(n) * size + 1e-30, where);
                            }
                        }
                    }
                }
            }
        }
    }
}
