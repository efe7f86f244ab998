package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Value;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// What every model architecture has to do: extend this class, describe a tiny model, and run it with
/// JUnit.
///
/// The tiny model has an output matrix of its own, a few hundred thousand weights at most, and all
/// tensors that the architecture knows. An encoder's has no output matrix; its graph has the hidden states of
/// tokens among its outputs ([Graph#HIDDEN]).
public abstract class ArchitectureContract extends ArchitectureNumbersContract {
    /// Some milliseconds in truth; the rest is for a machine that stands still.
    private static final Duration AT_ONCE = Duration.ofMinutes(1);
    /// For subclasses.
    protected ArchitectureContract() {}

    /// {@return the metadata keys without which the model cannot be built}
    protected abstract Set<String> requiredKeys();

    /// {@return the required keys whose value has to be above zero; by default the integers among them}
    protected Set<String> positiveKeys() {
        Set<String> keys = new HashSet<>(requiredKeys());
        keys.removeIf(key -> !metadata().get(key).type().isInteger());
        return keys;
    }

    /// {@return the name of the output matrix}
    protected String outputWeight() {
        return "output.weight";
    }

    /// {@return whether a file without the output matrix is a tied model}
    protected boolean mayBeTied() {
        return true;
    }

    /// {@return whether heads of some layers are fewer or shorter than those of others}
    protected boolean layersHaveHeadsOfTheirOwn() {
        return false;
    }

    // --- what it builds

    @Test
    void itsIdIsTheFilesArchitecture() {
        GgufValue value = metadata().get("general.architecture");
        assertEquals(value.value(), architecture().id());
    }

    @Test
    void theConfigurationIsThatOfTheFile() {
        assumeTrue(expectedConfig() != null, "the architecture alone says what the configuration is");
        assertEquals(expectedConfig(), define().config());
    }

    @Test
    void theGraphGivesLogitsForWantedRowsOfEveryLayer() {
        Graph graph = define().graph().expanded();
        ModelConfig config = config();
        if (graph.isCausal()) {
            assertEquals(config.vocabularySize(), graph.output().width(), "width of the output");
        } else {
            assertTrue(graph.outputs().containsKey(Graph.HIDDEN), "outputs of an encoder: " + graph.outputs());
        }
        List<CoreOp.Attention> attentions = graph.attentionLayers();
        // Layers with a state have no keys; those of the cache are then counted without them.
        if (graph.opsWithState().isEmpty()) {
            assertEquals(config.blockCount(), attentions.size(), "attention ops");
        }
        List<Integer> layers =
                graph.cacheLayers().stream().map(CoreOp.Attention::layer).toList();
        assertEquals(IntStream.range(0, layers.size()).boxed().toList(), layers, "layers of the KV cache");
        // Where layers differ, the configuration says the largest numbers.
        heads("query heads", config.headCount(), attentions, CoreOp.Attention::headCount);
        heads("key and value heads", config.headCountKv(), attentions, CoreOp.Attention::headCountKv);
        heads("key length", config.keyLength(), attentions, CoreOp.Attention::keyLength);
        heads("value length", config.valueLength(), attentions, CoreOp.Attention::valueLength);
        List<Op> ops = graph.ops();
        List<String> kinds = ops.stream().map(Op::kind).toList();
        assertEquals(1, kinds.stream().filter("select_rows"::equals).count(), "select_rows ops in " + kinds);
        assertTrue(
                kinds.indexOf("select_rows") > kinds.lastIndexOf("attention"),
                "rows are selected before the last attention, which needs all of them");
        for (Op state : graph.opsWithState()) {
            assertTrue(ops.indexOf(state) < kinds.indexOf("select_rows"), state.kind() + " needs all rows");
        }
    }

    private void heads(String what, int expected, List<CoreOp.Attention> ops, ToIntFunction<CoreOp.Attention> of) {
        if (ops.isEmpty()) {
            assertEquals(0, expected, what);
            return;
        }
        Set<Integer> found = ops.stream().map(of::applyAsInt).collect(Collectors.toSet());
        assertEquals(expected, Collections.max(found), what);
        assertTrue(found.size() == 1 || layersHaveHeadsOfTheirOwn(), what + " of the layers: " + found);
    }

    @Test
    void everyValueOfTheGraphIsUsed() {
        Graph graph = define().graph().expanded();
        Set<Integer> read = new HashSet<>(Set.of(graph.output().id()));
        graph.outputs().values().forEach(value -> read.add(value.id()));
        graph.ops().forEach(op -> op.inputs().forEach(value -> read.add(value.id())));
        for (Op op : graph.ops()) {
            for (Value value : op.outputs()) {
                assertTrue(read.contains(value.id()), op.kind() + " computes " + value + ", which nothing reads");
            }
        }
    }

    @Test
    void theWeightsAreTheFilesTensorsInNameAndShape() {
        weightsMatch(define().graph(), tensors());
        Set<String> named = new HashSet<>();
        define().graph().weights().forEach(weight -> named.add(weight.name()));
        ModelSource source = source(metadata(), tensors());
        for (String name : tensors().keySet()) {
            assertTrue(
                    named.contains(name) || architecture().ignores(source, name),
                    "the graph does not use the tensor " + name + ", and the architecture does not ignore it");
        }
    }

    private static void weightsMatch(Graph graph, Map<String, List<Long>> tensors) {
        Map<String, Weight> seen = new HashMap<>();
        for (Op op : graph.expanded().ops()) {
            for (Weight used : op.weights()) {
                Weight weight = used.tensor();
                assertEquals(seen.computeIfAbsent(weight.name(), name -> weight), weight, "one name, two shapes");
                List<Long> shape = tensors.get(weight.name());
                assertTrue(shape != null, "the file has no tensor " + weight.name());
                // Matrices of one element are a vector in the file.
                boolean numbers = weight.slices() > 1 && weight.cols() == 1 && shape.size() == 1;
                assertEquals(
                        shape.getFirst(), numbers ? weight.slices() : weight.cols(), "columns of " + weight.name());
                if (numbers) {
                    continue;
                }
                long rows = shape.stream().skip(1).reduce(1L, Math::multiplyExact);
                assertEquals(rows, (long) weight.rows() * weight.slices(), "rows of " + weight.name());
            }
        }
    }

    @Test
    void withoutAnOutputMatrixTheEmbeddingTableIsUsed() {
        assumeTrue(mayBeTied(), "the architecture has no tied models");
        Map<String, List<Long>> tied = new LinkedHashMap<>(tensors());
        assertTrue(tied.remove(outputWeight()) != null, "the tiny model has no " + outputWeight());
        Graph graph = architecture().define(source(metadata(), tied)).graph();
        weightsMatch(graph, tied);
        Op head = graph.expanded().ops().reversed().stream()
                .filter(op -> !op.weights().isEmpty())
                .findFirst()
                .orElseThrow();
        assertEquals(embeddingWeight(), head.weights().getFirst().name(), "weight of the last op that has any");
    }

    /// For a file without one, and for one with any.
    @Test
    void aChatTemplateIsATextAndAlwaysTheSame() {
        for (String own : new String[] {null, "", "{{ messages }}"}) {
            Map<String, GgufValue> keys = new LinkedHashMap<>(metadata());
            keys.remove("tokenizer.chat_template");
            if (own != null) {
                keys.put("tokenizer.chat_template", GgufValue.of(own));
            }
            Optional<String> given =
                    architecture().chatTemplate(source(keys, tensors()).metadata());
            assertEquals(
                    given, architecture().chatTemplate(source(keys, tensors()).metadata()));
            assertTrue(given.isEmpty() || !given.get().isBlank(), "the template that is given is blank");
        }
        assertTrue(
                architecture()
                        .chatTemplate(GgufMetadata.of("nothing", Map.of()))
                        .isEmpty(),
                "a template is given to a file that says nothing of itself");
    }

    @Test
    void definingTwiceAndFromManyThreadsGivesTheSame() {
        ModelDefinition first = define();
        List<ModelDefinition> all =
                IntStream.range(0, 16).parallel().mapToObj(i -> define()).toList();
        all.forEach(each -> assertEquals(first, each));
    }

    // --- what it refuses

    @TestFactory
    Stream<DynamicTest> aMissingKeyIsNamed() {
        return requiredKeys().stream()
                .sorted()
                .map(key -> DynamicTest.dynamicTest(key, () -> {
                    Map<String, GgufValue> without = new LinkedHashMap<>(metadata());
                    assertTrue(without.remove(key) != null, "the tiny model has no key " + key);
                    ModelFormatException e = assertThrows(
                            ModelFormatException.class, () -> architecture().define(source(without, tensors())));
                    assertEquals(ErrorCode.MODEL_KEY_MISSING, e.code());
                    assertTrue(e.getMessage().contains(key), e.getMessage());
                }));
    }

    @TestFactory
    Stream<DynamicTest> withoutAnyOfItsKeysItIsDefinedOrRefused() {
        return metadata().keySet().stream()
                .sorted()
                .map(key -> DynamicTest.dynamicTest(key, () -> {
                    Map<String, GgufValue> without = new LinkedHashMap<>(metadata());
                    without.remove(key);
                    definesOrRefuses("no " + key, source(without, tensors()));
                }));
    }

    @TestFactory
    Stream<DynamicTest> aValueOfTheWrongTypeIsNamed() {
        return requiredKeys().stream()
                .sorted()
                .map(key -> DynamicTest.dynamicTest(key, () -> {
                    boolean text = metadata().get(key).type() == GgufType.STRING;
                    for (GgufValue wrong : List.of(
                            text ? GgufValue.ofUint32(7) : GgufValue.of("seven"),
                            GgufValue.of(new String[] {"a"}),
                            GgufValue.of(true))) {
                        ModelFormatException e = assertThrows(
                                ModelFormatException.class,
                                () -> architecture().define(with(key, wrong)),
                                wrong.toString());
                        assertEquals(ErrorCode.MODEL_KEY_VALUE, e.code());
                        assertTrue(e.getMessage().contains(key), e.getMessage());
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> zeroIsRefusedWhereItMakesNoSense() {
        return positiveKeys().stream()
                .sorted()
                .map(key -> DynamicTest.dynamicTest(key, () -> {
                    TenonException e = assertThrows(
                            TenonException.class, () -> architecture().define(with(key, GgufValue.ofUint32(0))));
                    assertFalse(e.code().isBlank(), "no code");
                }));
    }

    @TestFactory
    Stream<DynamicTest> strangeNumbersGiveATypedErrorAtOnce() {
        List<DynamicTest> tests = new ArrayList<>();
        for (String key : metadata().keySet().stream().sorted().toList()) {
            GgufValue sound = metadata().get(key);
            if (!(sound.value() instanceof Number)) {
                continue;
            }
            List<GgufValue> strange = new ArrayList<>();
            if (sound.type().isInteger()) {
                for (long number : new long[] {1, 3, 7, 65_537, Integer.MAX_VALUE, 0xffffffffL}) {
                    strange.add(GgufValue.ofUint32(number));
                }
                strange.add(new GgufValue(GgufType.INT64, null, -1L));
                strange.add(new GgufValue(GgufType.UINT64, null, Long.MAX_VALUE));
            } else {
                for (float number : new float[] {0, -1, Float.NaN, Float.POSITIVE_INFINITY, Float.MIN_VALUE}) {
                    strange.add(GgufValue.of(number));
                }
            }
            tests.add(DynamicTest.dynamicTest(key, () -> strange.forEach(value -> definesOrRefuses(key, value))));
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> twoStrangeNumbersGiveATypedErrorAtOnce() {
        String layers = architecture().id() + ".block_count"; // many layers are slow to build; one at a time above
        List<String> keys = metadata().keySet().stream()
                .filter(key -> metadata().get(key).type().isInteger() && !key.equals(layers))
                .sorted()
                .toList();
        List<DynamicTest> tests = new ArrayList<>();
        for (String first : keys) {
            for (String second : keys.subList(keys.indexOf(first) + 1, keys.size())) {
                tests.add(DynamicTest.dynamicTest(first + " and " + second, () -> {
                    for (long number : new long[] {1, 5, 65_536, 1 << 24, Integer.MAX_VALUE}) {
                        Map<String, GgufValue> changed = new LinkedHashMap<>(metadata());
                        changed.put(first, GgufValue.ofUint32(number));
                        changed.put(second, GgufValue.ofUint32(number));
                        definesOrRefuses(first + " and " + second + " = " + number, source(changed, tensors()));
                    }
                }));
            }
        }
        return tests.stream();
    }

    /// Whatever the number: a definition or a typed error, soon, and nothing else.
    private void definesOrRefuses(String key, GgufValue value) {
        definesOrRefuses(key + " = " + value.value(), with(key, value));
    }

    private void definesOrRefuses(String what, ModelSource source) {
        assertTimeoutPreemptively(
                AT_ONCE,
                () -> {
                    try {
                        architecture().define(source);
                    } catch (TenonException e) {
                        assertFalse(e.code().isBlank(), "no code");
                    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
                        fail(what + " gives " + e, e);
                    }
                },
                () -> what + " takes too long");
    }

    @Test
    void notANumberIsRefusedInTheNormsEpsilon() {
        String rms = architecture().id() + ".attention.layer_norm_rms_epsilon";
        String layer = architecture().id() + ".attention.layer_norm_epsilon";
        String key = metadata().containsKey(layer) ? layer : rms;
        assumeTrue(metadata().containsKey(key), () -> "the architecture has no key " + key);
        TenonException e =
                assertThrows(TenonException.class, () -> architecture().define(with(key, GgufValue.of(Float.NaN))));
        assertTrue(e.getMessage().contains(key), e.getMessage());
    }

    @Test
    void moreLayersThanTheFileHasAreNotBuiltForever() {
        String key = architecture().id() + ".block_count";
        assumeTrue(metadata().containsKey(key), () -> "the architecture has no key " + key);
        definesOrRefuses(key, GgufValue.ofUint32(Integer.MAX_VALUE));
    }

    // --- helpers

    private ModelSource with(String key, GgufValue value) {
        Map<String, GgufValue> changed = new LinkedHashMap<>(metadata());
        changed.put(key, value);
        return source(changed, tensors());
    }
}
