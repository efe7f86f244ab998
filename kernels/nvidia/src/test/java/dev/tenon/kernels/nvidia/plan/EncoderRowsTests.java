package dev.tenon.kernels.nvidia.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.graph.CentredConvolution;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.Value;
import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.Launch;
import dev.tenon.kernels.nvidia.MvSchedule;
import dev.tenon.kernels.nvidia.source.KernelCatalogue;
import dev.tenon.kernels.nvidia.source.KernelModule;
import dev.tenon.kernels.nvidia.step.StepShape;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EncoderRowsTests {
    private static final int WIDTH = 512;

    @Test
    void eachOpIsAKernelOfOneModule() {
        TestGraphs t = new TestGraphs();
        GraphBuilder b = new GraphBuilder("encoder");
        Value x = b.embedding("x", t.matrix("token_embd.weight", WIDTH, 1000, "F16"));
        Value convolved = b.value("convolved", WIDTH);
        b.add(new CentredConvolution(x, t.matrix("taps", 3, WIDTH, "F32"), Optional.empty(), convolved));
        Value bent = b.value("bent", WIDTH);
        b.add(new PartOp.Xielu(b.transpose("t", convolved, 4), 1, 2, 3, 4, bent));
        Value clamped = b.clamp("c", bent, Optional.of(t.vector("least", 1)), Optional.empty());
        Value mean = b.groupMean("m", clamped, 4);
        Value out = b.transposedLinear("l", b.selectRows("rows", mean), t.matrix("weight", 300, WIDTH, "F16"));
        Graph graph = b.build(out);
        List<Launch> launches = t.plan(graph, TestGraphs.options(32, 1), TestGraphs.HOPPER, MvSchedule.DEFAULT)
                .launches(new StepShape(32, 16, false));
        assertEquals(
                List.of(
                        "embedding_F16",
                        "centred_convolution",
                        "transpose",
                        "xielu",
                        "clamp",
                        "group_mean",
                        "select_rows",
                        "transposed_linear"),
                launches.stream().map(Launch::entry).toList());
        assertTrue(launches.stream()
                .filter(l -> !List.of("embedding_F16", "select_rows").contains(l.entry()))
                .allMatch(l -> l.module().file().equals("encoders.cu")));
        assertEquals(
                List.of(new Argument.Float(0), new Argument.Float(Float.POSITIVE_INFINITY)),
                launches.get(4).arguments().subList(1, 3));
        assertEquals(2, launches.getLast().blocks().x(), "300 columns");
        assertEquals(2, launches.getLast().blocks().y(), "16 tokens");
    }

    @Test
    void theProductHasTheBlocksThatAreCompiled() {
        String source =
                KernelCatalogue.source(KernelModule.of("encoders.cu"), Map.of()).text();
        assertTrue(source.contains("constexpr int TOKENS = " + EncoderRows.TOKENS + ";"));
        assertTrue(source.contains("constexpr int THREADS = " + EncoderRows.BLOCK + ";"));
    }
}
