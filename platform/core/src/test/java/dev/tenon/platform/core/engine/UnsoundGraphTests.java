package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.GraphBuilder;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/// An architecture whose graph is not sound: loading a model fails with a code, and names bundle and op.
class UnsoundGraphTests {
    private final ServiceRegistry registry = new ServiceRegistry();

    /// Serves "llama" with ops between embedding and logits that a test adds.
    private record Unsound(BiFunction<GraphBuilder, Value, Value> ops) implements ModelArchitecture {
        @Override
        public String id() {
            return "llama";
        }

        @Override
        public ModelDefinition define(ModelSource source) {
            ModelConfig config = ModelConfig.read(source, 10000);
            Weight table = new Weight("token_embd.weight", config.embeddingLength(), config.vocabularySize());
            GraphBuilder g = new GraphBuilder("unsound");
            Value x = ops.apply(g, g.embedding("x", table));
            return new ModelDefinition(config, g.build(g.linear("logits", x, table, Optional.empty())));
        }

        @Override
        public boolean ignores(ModelSource source, String tensor) {
            return true;
        }
    }

    /// An op that expands into what a test says.
    private record Custom(Value x, Value out, UnaryOperator<Custom> into) implements CustomOp {
        @Override
        public String kind() {
            return "my_op";
        }

        @Override
        public List<Value> inputs() {
            return List.of(x);
        }

        @Override
        public List<Value> outputs() {
            return List.of(out);
        }

        @Override
        public List<Op> expand() {
            return List.of(into.apply(this));
        }
    }

    private void refused(BiFunction<GraphBuilder, Value, Value> ops, String... parts) {
        registry.add(new FakeBackend("fast", 2));
        registry.add(new FakeFormat());
        registry.add(new ByteLevelBpeProvider());
        registry.add(new Unsound(ops));
        TenonEngine engine = new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
        UnsupportedModelException e =
                assertThrows(UnsupportedModelException.class, () -> engine.load(EngineTests.request()));
        assertEquals(ErrorCode.MODEL_GRAPH, e.code());
        assertTrue(e.getMessage().startsWith("ok_model.gguf cannot be loaded: llama (test-classes)"), e.getMessage());
        for (String part : parts) {
            assertTrue(e.getMessage().contains(part), e.getMessage());
        }
        assertTrue(e.getCause() != null, "the cause is lost");
    }

    private static Value own(GraphBuilder g, Value x, UnaryOperator<Custom> into) {
        Value out = g.value("blk.0.own", x.width());
        g.add(new Custom(x, out, into));
        return out;
    }

    @Test
    void widthsThatDoNotFit() {
        refused(
                (g, x) -> {
                    Value out = g.value("blk.0.scaled", x.width() / 2);
                    g.add(new CoreOp.Scale(x, 2, out));
                    return out;
                },
                "op scale -> blk.0.scaled",
                "not as wide");
    }

    @Test
    void anOpThatExpandsIntoItself() {
        refused((g, x) -> own(g, x, op -> op), "op my_op -> [blk.0.own", "into itself");
    }

    @Test
    void anExpansionWithoutEnd() {
        refused((g, x) -> own(g, x, UnsoundGraphTests::endless), "StackOverflowError");
    }

    private static Custom endless(Custom op) {
        return (Custom) op.expand().getFirst();
    }

    @Test
    void aClassThatIsMissing() {
        refused(
                (g, x) -> {
                    throw new NoClassDefFoundError("com/acme/Missing");
                },
                "NoClassDefFoundError: com/acme/Missing");
    }
}
