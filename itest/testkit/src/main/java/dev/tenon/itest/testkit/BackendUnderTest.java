package dev.tenon.itest.testkit;

import static dev.tenon.itest.testkit.Closeness.assertClose;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.Support;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.models.PlanDriver;
import dev.tenon.itest.testkit.models.PlanDriver.Settings;
import dev.tenon.itest.testkit.models.RandomModels;
import dev.tenon.itest.testkit.models.RandomModels.Model;
import dev.tenon.itest.testkit.models.RandomModels.Shape;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.itest.testkit.reference.Reference;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/// What contracts of backends have in common: what is tested, how far numbers may be off, an open device, and
/// the comparison with [Reference].
///
/// Where the hardware is missing, the tests are skipped with the probe's reason, unless [#mustBeAvailable()]
/// says otherwise.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BackendUnderTest {
    private Backend backend;
    private Device device;

    /// For subclasses.
    protected BackendUnderTest() {}

    /// {@return the backend under test}
    protected abstract Backend backend();

    /// {@return the formats that it is tested with}
    protected abstract Collection<QuantFormat> formats();

    /// {@return whether missing hardware fails the tests instead of skipping them}
    protected boolean mustBeAvailable() {
        return false;
    }

    /// {@return how to open the device}
    protected DeviceOptions deviceOptions() {
        return DeviceOptions.defaults();
    }

    /// {@return the element types of the KV cache that it offers}
    protected Set<PlanOptions.KvType> kvTypes() {
        return Set.of(PlanOptions.KvType.values());
    }

    /// {@return whether sizes of real models are tested, too: minutes on a CPU}
    protected boolean large() {
        return false;
    }

    /// {@return kernels of other bundles that plans are compiled with; none by default}
    protected Collection<KernelProvider> kernels() {
        return List.of();
    }

    /// {@return how far a number may be off, as a fraction of the root mean square of its rows; the
    ///     default suits float32 activations}
    ///
    /// @param what the case, starting with the kind of op or `model`
    /// @param n terms of the longest sum in it
    protected double tolerance(String what, int n) {
        return 1e-5 * Math.sqrt(n);
    }

    /// {@return how far a number may be off where weights are in a format; the default does not look at it}
    ///
    /// @param what the case, starting with the kind of op or `model`
    /// @param format format of the weights; a backend may round activations more coarsely for some
    /// @param n terms of the longest sum in it
    protected double tolerance(String what, QuantFormat format, int n) {
        return tolerance(what, n);
    }

    /// {@return how far logits may be off because of the KV cache's element type}
    ///
    /// @param type element type of keys and values
    protected double kvTolerance(PlanOptions.KvType type) {
        return switch (type) {
            case F32 -> 0;
            case F16 -> 5e-3;
            case Q8_0 -> 6e-2;
        };
    }

    /// {@return the open device, shared by the tests; closed by this class}
    protected final Device device() {
        return device;
    }

    @BeforeAll
    final void openDevice() {
        backend = backend();
        Probe probe = backend.probe();
        if (!mustBeAvailable()) {
            assumeTrue(probe.available(), () -> backend.id() + " is not available here: " + probe.reason());
        }
        assertTrue(probe.available(), () -> backend.id() + " is not available: " + probe.reason());
        device = backend.open(deviceOptions());
    }

    @AfterAll
    final void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    /// Skips a test where the backend says that it does not run one of the ops.
    final void assumeSupported(Model model) {
        for (Op op : model.graph().ops()) {
            Support support = device.compiler().supports(op, model.weights(), kernels());
            assumeTrue(support.level() != Support.Level.NONE, () -> backend.id() + ": " + support.reason());
        }
    }

    /// Limits of a plan that gets [#kernels()].
    final Settings settings(int maxTokens, int maxSequences, int positions) {
        return Settings.of(maxTokens, maxSequences, positions).withKernels(kernels());
    }

    final Model llama() {
        return RandomModels.llamaLike(1, TestFormats.F32, Shape.smallFor(TestFormats.F32));
    }

    final Model qwen3() {
        return RandomModels.qwen3Like(2, TestFormats.F32, Shape.smallFor(TestFormats.F32));
    }

    /// {@return random token ids}
    ///
    /// @param seed seed
    /// @param n how many
    /// @param vocabularySize ids are 0 to this - 1
    protected static int[] tokens(long seed, int n, int vocabularySize) {
        return new Random(seed).ints(n, 0, vocabularySize).toArray();
    }

    /// Runs tokens in chunks of 1, 17 and all, and compares every row with the reference.
    ///
    /// @param model graph and weights
    /// @param tokens token ids
    /// @param n terms of the longest sum
    protected final void compare(Model model, int[] tokens, int n) {
        compare(model, tokens, null, n);
    }

    /// As [#compare(Model, int[], int)], for weights in a format.
    ///
    /// @param model graph and weights
    /// @param tokens token ids
    /// @param format format of the weights, or null for float32
    /// @param n terms of the longest sum
    protected final void compare(Model model, int[] tokens, QuantFormat format, int n) {
        String kind = kind(model);
        double allowed = format == null ? tolerance(kind, n) : tolerance(kind, format, n);
        compareChunks(model, tokens, new int[] {tokens.length, 17, 1}, allowed);
    }

    /// {@return what the tolerance of a model is asked for by}
    static String kind(Model model) {
        return model.graph().weights().size() > 6 ? "model" : model.graph().name();
    }

    /// Runs tokens in chunks, and compares every row with the reference.
    ///
    /// @param chunks tokens of a step, one run for each
    /// @param allowed how far a number may be off
    final void compareChunks(Model model, int[] tokens, int[] chunks, double allowed) {
        double[][] expected =
                new Reference(model.graph(), model.weights()).newSequence().feed(tokens);
        try (PlanDriver driver = new PlanDriver(device, model, settings(tokens.length, 1, tokens.length))) {
            for (int chunk : chunks) {
                PlanDriver.Sequence s = driver.open();
                float[][] got = driver.feed(s, tokens, chunk);
                driver.release(s);
                assertClose(model.name() + " chunk=" + chunk, expected, got, allowed);
            }
        }
    }
}
