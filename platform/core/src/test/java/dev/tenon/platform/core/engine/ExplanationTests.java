package dev.tenon.platform.core.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Support;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.api.model.ModelSource;
import dev.tenon.platform.core.control.Selection;
import dev.tenon.platform.core.control.Selection.Candidate;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.sampling.DefaultSamplerProvider;
import dev.tenon.platform.core.settings.EngineConfig;
import dev.tenon.platform.core.text.ByteLevelBpeProvider;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExplanationTests {
    private final ServiceRegistry registry = new ServiceRegistry();
    private final FakeBackend slow = new FakeBackend("slow", 1);
    private final FakeBackend fast = new FakeBackend("fast", 2);
    private final FakeFormat format = new FakeFormat();
    private final FakeLlama llama = new FakeLlama();

    ExplanationTests() {
        List.of(slow, fast, format, llama).forEach(registry::add);
    }

    private record FakeKernel(String name, String deviceKind, String op, String format) implements Kernel {}

    private record FakeKernels(List<Kernel> kernels, int rank) implements KernelProvider {}

    private List<String> explain(String kind, Map<String, String> settings) {
        TenonEngine engine = new TenonEngine(registry, EngineConfig.of(settings, Map.of()));
        List<Selection> selections = engine.explain(LoadRequest.of(file()));
        assertEquals(0, slow.open.get() + fast.open.get(), "open devices");
        return selections.stream()
                .filter(selection -> selection.kind().equals(kind))
                .findFirst()
                .map(Selection::candidates)
                .orElse(List.of())
                .stream()
                .map(ExplanationTests::text)
                .toList();
    }

    private static Path file() {
        return EngineTests.request().path();
    }

    private static String text(Candidate candidate) {
        return (candidate.taken() ? "+ " : "- ") + candidate.name() + ": " + candidate.reason();
    }

    @Test
    void whatIsMissingIsACandidateThatNobodyOffers() {
        registry.remove(llama);
        assertEquals(
                List.of("- llama: no bundle that runs offers the architecture 'llama'"),
                explain("architecture", Map.of()));
        registry.add(llama);
        registry.remove(format);
        assertEquals(List.of("- type 1: no bundle that runs offers a format of type 1"), explain("format", Map.of()));
        assertTrue(explain("model", Map.of()).getFirst().contains(ErrorCode.MODEL_TENSOR_FORMAT));
        registry.add(format);
        assertEquals(
                List.of(
                        "- fast: setting backend=gpu names another",
                        "- slow: setting backend=gpu names another",
                        "- gpu: no bundle that runs offers the backend 'gpu'"),
                explain("backend", Map.of("backend", "gpu")));
    }

    @Test
    void aBackendOfNegativeRankIsUsedOnlyWhenItIsNamed() {
        registry.add(new FakeBackend("odd", -1));
        fast.available = false;
        slow.available = false;
        assertEquals(
                List.of(
                        "- fast: not available: switched off",
                        "- slow: not available: switched off",
                        "- odd: used only when it is named (rank -1)"),
                explain("backend", Map.of()));
        assertEquals(
                "+ odd: rank -1, fake",
                explain("backend", Map.of("backend", "odd")).getLast());
    }

    @Test
    void backendsTellRankProbeSettingsAndWhatTheyDoNotSupport() {
        assertEquals(List.of("+ fast: rank 2, fake", "- slow: rank 1 is below fast's 2"), explain("backend", Map.of()));
        fast.available = false;
        assertEquals(
                List.of("- fast: not available: switched off", "+ slow: rank 1, fake"), explain("backend", Map.of()));
        fast.available = true;
        fast.support = new Support(Support.Level.NONE, "op linear is too hard");
        assertEquals(
                List.of("- fast: does not support op linear is too hard", "+ slow: rank 1, fake"),
                explain("backend", Map.of()));
        registry.add(new FakeBackend("slow", 1));
        List<String> twice = explain("backend", Map.of());
        assertTrue(twice.get(1).startsWith("- slow: Several bundles offer the backend slow"), twice::toString);
        assertTrue(twice.get(1).contains(ErrorCode.DUPLICATE_ID), twice::toString);
    }

    /// Loads the model and asks for an explanation, in one situation.
    ///
    /// @param settings of the engine
    /// @return the backend that runs the model, or the message with which the load fails
    private String agreed(Map<String, String> settings) {
        TenonEngine engine = new TenonEngine(registry, EngineConfig.of(settings, Map.of()));
        List<String> reasons = explain("backend", settings);
        List<String> taken =
                reasons.stream().filter(reason -> reason.startsWith("+ ")).toList();
        try (LoadedModel model = engine.load(LoadRequest.of(file()))) {
            assertEquals(1, taken.size(), reasons::toString);
            assertTrue(taken.getFirst().startsWith("+ " + model.backend() + ": "), reasons::toString);
            return model.backend();
        } catch (TenonException e) {
            assertEquals(List.of(), taken);
            boolean told = e.code().equals(ErrorCode.BACKEND_UNAVAILABLE)
                    ? reasons.stream().map(reason -> reason.substring(2)).allMatch(e.getMessage()::contains)
                    : reasons.stream().anyMatch(reason -> reason.endsWith(": " + e.getMessage()));
            assertTrue(told, () -> e.getMessage() + " and " + reasons);
            return e.getMessage();
        } finally {
            assertEquals(0, slow.open.get() + fast.open.get(), "open devices");
        }
    }

    @Test
    void aLoadAndAnExplanationAgree() {
        List.of(new ByteLevelBpeProvider(), new DefaultSamplerProvider()).forEach(registry::add);
        assertEquals("fast", agreed(Map.of()));
        assertEquals("slow", agreed(Map.of("backend", "slow")));
        fast.unopened = new TenonException(ErrorCode.ARGUMENT, "there is no device 7");
        assertEquals(fast.unopened.getMessage(), agreed(Map.of("device", "7")));
        fast.unopened = null;
        fast.available = false;
        assertEquals("slow", agreed(Map.of()));
        slow.support = new Support(Support.Level.NONE, "op linear is too hard");
        String none = agreed(Map.of());
        assertTrue(none.contains("fast: not available: switched off; slow: does not support op linear"), none);
        fast.available = true;
        fast.support = new Support(Support.Level.NONE, "op rope is too new");
        slow.support = new Support(Support.Level.GENERIC, "fake");
        assertEquals("slow", agreed(Map.of()));
        registry.add(new FakeBackend("slow", 1));
        assertTrue(agreed(Map.of()).contains(ErrorCode.DUPLICATE_ID));
    }

    @Test
    void anArchitectureThatRefusesTheModelSaysWhy() {
        registry.remove(llama);
        registry.add(new ModelArchitecture() {
            @Override
            public String id() {
                return "llama";
            }

            @Override
            public ModelDefinition define(ModelSource source) {
                throw new TenonException(ErrorCode.MODEL_ARCHITECTURE, "too many experts");
            }
        });
        assertTrue(explain("model", Map.of()).getFirst().startsWith("- llama: too many experts"));
        assertEquals(List.of(), explain("backend", Map.of()));
    }

    @Test
    void devicesOfAllBackendsAreThere() {
        assertEquals(
                List.of("+ 0 fake fast: the first of fast", "- 0 fake slow: backend slow is not taken"),
                explain("device", Map.of()));
        slow.available = false;
        assertEquals(
                List.of("+ 0 fake fast: setting device=0", "- none of slow: not available: switched off"),
                explain("device", Map.of("device", "0")));
    }

    @Test
    void kernelsTellDeviceKindFormatAndWhoseIsTaken() {
        registry.add(new FakeKernels(
                List.of(
                        new FakeKernel("f16", "fake", "linear", "F16"),
                        new FakeKernel("f16.wide", "fake", "linear", "F16"),
                        new FakeKernel("f16.cuda", "cuda", "linear", "F16"),
                        new FakeKernel("q8", "fake", "linear", "Q8_0"),
                        new FakeKernel("norm", "fake", "rms_norm", "F32")),
                0));
        registry.add(new FakeKernels(List.of(new FakeKernel("f16.wide", "fake", "linear", "F16")), 5));
        fast.support = new Support(Support.Level.FAST, "kernel f16.wide for token_embd.weight");
        // The first op is the embedding, which no kernel is for.
        TenonEngine engine = new TenonEngine(registry, EngineConfig.of(Map.of(), Map.of()));
        Selection linear = linear(engine);
        assertEquals(
                List.of(
                        "+ fast: kernel f16.wide for token_embd.weight",
                        "+ f16.wide: made for the format and taken by the backend, rank 5",
                        "- f16: the backend takes another: kernel f16.wide for token_embd.weight, rank 0",
                        "- f16.wide: one of a higher rank, or of an earlier class name, came first, rank 0",
                        "- f16.cuda: is for devices of kind cuda, the device is of kind fake, rank 0",
                        "- q8: reads Q8_0, the weight is F16, rank 0"),
                linear.candidates().stream().map(ExplanationTests::text).toList());
    }

    private static Selection linear(TenonEngine engine) {
        return engine.explain(LoadRequest.of(file())).stream()
                .filter(selection ->
                        selection.kind().equals("kernel") && selection.subject().startsWith("linear"))
                .findFirst()
                .orElseThrow();
    }
}
