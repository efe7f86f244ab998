package dev.tenon.platform.core.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.quant.Quantizer;
import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What is refused of a bundle before anything uses it.
class SelfCheckTests {
    /// Eight signed bytes under a half.
    private static BlockLayout layout(int zero) {
        return BlockLayout.of(8, 10, Numbers.signed(BitField.of(8).at(2).bytes(8, 1)), zero, Scale.f16(0));
    }

    /// A format that decodes by one layout and gives another.
    private record Format(BlockLayout own, BlockLayout given, int blockBytes) implements QuantFormat {
        @Override
        public String id() {
            return "EIGHT";
        }

        @Override
        public int ggmlType() {
            return 60_000;
        }

        @Override
        public Optional<BlockLayout> layout() {
            return Optional.of(given);
        }

        @Override
        public void dequantize(MemorySegment source, long offsetBytes, float[] target, int targetOffset, int n) {
            own.decode(source, offsetBytes, target, targetOffset, n);
        }

        @Override
        public Optional<Quantizer> quantizer() {
            return Optional.empty();
        }
    }

    private static List<String> check(Format format) {
        ServiceRegistry registry = new ServiceRegistry();
        registry.add(format, 1);
        return new SelfCheck(registry).check(1, -1);
    }

    @Test
    void aDecoderAndItsLayoutSayTheSame() {
        assertEquals(List.of(), check(new Format(layout(0), layout(0), 10)));
        List<String> wrong = check(new Format(layout(0), layout(1), 10));
        assertEquals(1, wrong.size(), wrong::toString);
        assertEquals(
                "format EIGHT decodes element N of a block to X; its layout decodes it to Y",
                wrong.getFirst()
                        .replaceFirst(
                                "element \\d+ of a block to \\S+; its layout decodes it to \\S+",
                                "element N of a block to X; its layout decodes it to Y"));
        assertEquals(
                List.of("format EIGHT has blocks of 8 values in 12 bytes; its layout has 8 in 10"),
                check(new Format(layout(0), layout(0), 12)));
    }

    @Test
    void aFormatThatDecodesOtherwiseThanTheVersionBeforeHasChanged() {
        Format before = new Format(layout(0), layout(0), 10);
        assertEquals(List.of(), changed(before, new Format(layout(0), layout(0), 10)));
        String values = changed(before, new Format(layout(1), layout(1), 10)).getFirst();
        assertTrue(values.matches("format EIGHT decodes element .*; the version it replaces decodes it to .*"), values);
        assertEquals(
                List.of("format EIGHT has another number or other blocks than the version it replaces"),
                changed(before, new Format(layout(0), layout(0), 12)));
    }

    private static List<String> changed(Format before, Format next) {
        ServiceRegistry registry = new ServiceRegistry();
        registry.add(before, 1);
        registry.hold(2);
        registry.add(next, 2);
        SelfCheck check = new SelfCheck(registry);
        assertEquals(List.of(), check.changedFormats(2, -1));
        return check.changedFormats(2, 1);
    }
}
