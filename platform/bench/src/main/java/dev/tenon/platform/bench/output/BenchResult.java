package dev.tenon.platform.bench.output;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.platform.bench.measure.BenchProfile;
import dev.tenon.platform.bench.measure.BenchRunner;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.bench.measure.Statistics;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// The outcome of one test.
///
/// @param config how the model was loaded
/// @param test what was timed
/// @param model what ran
/// @param testTime when it began
/// @param times time of each repetition, and of each token
/// @param bandwidth bytes a second that the machine's processors read, measured in the same run
///     with as many threads; 0 if not measured
/// @param comparison the other program's speeds; null for none
/// @param profile where the time went; null if not profiled
public record BenchResult(
        BenchConfig config,
        BenchTest test,
        ModelFacts model,
        Instant testTime,
        BenchRunner.Times times,
        double bandwidth,
        Comparison comparison,
        BenchProfile profile) {
    /// Makes a result with speeds only.
    BenchResult(BenchConfig config, BenchTest test, ModelFacts model, Instant testTime, BenchRunner.Times times) {
        this(config, test, model, testTime, times, 0, null, null);
    }

    /// What is known of a loaded model.
    ///
    /// @param type such as `llama 1B Q6_K`
    /// @param sizeBytes bytes of its tensors
    /// @param parameters number of its weights
    /// @param backend backend that ran it
    /// @param device name of the device
    /// @param deviceKind class of device, such as `cpu`
    /// @param layers number of layers
    /// @param loadNanos how long loading took
    /// @param weightBytesPerToken weight bytes that decoding one token reads
    /// @param kvBytesPerPosition bytes that keys and values of one position take
    /// @param activationBytesPerToken bytes of activations that decoding one token writes and reads
    public record ModelFacts(
            String type,
            long sizeBytes,
            long parameters,
            String backend,
            String device,
            String deviceKind,
            int layers,
            long loadNanos,
            long weightBytesPerToken,
            double kvBytesPerPosition,
            long activationBytesPerToken) {
        /// {@return the facts of a loaded model}
        ///
        /// @param config how it was loaded
        public static ModelFacts of(LoadedModel model, BenchConfig config) {
            List<TensorInfo> tensors = model.file().tensors();
            ModelConfig hyper = model.config();
            double kv = (double) hyper.blockCount()
                    * hyper.headCountKv()
                    * (hyper.keyLength() * elementBytes(config.typeK())
                            + hyper.valueLength() * elementBytes(config.typeV()));
            return new ModelFacts(
                    FileTypes.describe(model),
                    tensors.stream().mapToLong(TensorInfo::sizeBytes).sum(),
                    tensors.stream().mapToLong(TensorInfo::elements).sum(),
                    model.backend(),
                    model.device().name(),
                    model.device().kind(),
                    hyper.blockCount(),
                    model.loadNanos(),
                    model.report().weightBytesPerToken(),
                    kv,
                    activationBytes(hyper));
        }

        /// Bytes of activations that a token takes: the result of every op of the unfused graph,
        /// written once and read once as float32.
        private static long activationBytes(ModelConfig c) {
            long q = (long) c.headCount() * c.keyLength();
            long kv = (long) c.headCountKv() * (c.keyLength() + c.valueLength());
            long attended = (long) c.headCount() * c.valueLength();
            // Both norms, both projections back, both sums: six of the residual's width.
            long layer = 6L * c.embeddingLength() + q + kv + attended + 3L * c.feedForwardLength();
            long all = c.blockCount() * layer + 2L * c.embeddingLength() + c.vocabularySize();
            return 2 * Float.BYTES * all;
        }

        private static double elementBytes(KvType type) {
            return switch (type) {
                case F32 -> 4;
                case F16 -> 2;
                case Q8_0 -> 34.0 / 32;
            };
        }
    }

    /// {@return tokens a second of each repetition}
    public double[] samplesPerSecond() {
        return Arrays.stream(times.repetitions())
                .mapToDouble(ns -> 1e9 * test.tokens() / ns)
                .toArray();
    }

    /// {@return the tokens of the first repetition, if they are the model's own, with spaces between; otherwise null}
    String generated() {
        return times.generated().length == 0
                ? null
                : Arrays.stream(times.generated()).mapToObj(Integer::toString).collect(Collectors.joining(" "));
    }

    /// {@return mean of the tokens a second}
    public double meanPerSecond() {
        return Statistics.mean(samplesPerSecond());
    }

    /// {@return sample standard deviation of the tokens a second}
    double deviationPerSecond() {
        return Statistics.deviation(samplesPerSecond());
    }

    /// {@return mean time of a repetition}
    long meanNanos() {
        return Math.round(Statistics.mean(nanos()));
    }

    /// {@return sample standard deviation of the time of a repetition}
    long deviationNanos() {
        return Math.round(Statistics.deviation(nanos()));
    }

    /// {@return whether the times of single tokens are known: other devices work on when a call has
    ///     returned}
    public boolean tokensTimed() {
        return model.deviceKind().equals("cpu") && times.tokens().length > 0;
    }

    /// {@return the median of the times of decoded tokens, which a short disturbance does not move}
    long medianTokenNanos() {
        return Statistics.median(times.tokens());
    }

    /// {@return bytes of memory that decoding one token takes, by definition: its part of the
    ///     weights, which a step reads once for all sequences; keys and values of the positions up
    ///     to its own, on average over the test; its activations}
    public double bytesPerToken() {
        return weightBytes() + kvBytes() + model.activationBytesPerToken();
    }

    /// {@return weight bytes a token}
    double weightBytes() {
        return (double) model.weightBytesPerToken() / test.nParallel();
    }

    /// {@return bytes of keys and values a token, on average over the test}
    double kvBytes() {
        return model.kvBytesPerPosition() * (test.nDepth() + test.nPrompt() + (test.nGen() + 1) / 2.0);
    }

    /// {@return bytes a second that the speed amounts to}
    double bytesPerSecond() {
        return bytesPerToken() * meanPerSecond();
    }

    /// {@return bytes a second of the median token}
    double medianBytesPerSecond() {
        return 1e9 * bytesPerToken() / medianTokenNanos();
    }

    /// {@return whether the test only decodes, so that bytes a token say something}
    public boolean decodes() {
        return test.nPrompt() == 0;
    }

    private double[] nanos() {
        return Arrays.stream(times.repetitions()).mapToDouble(ns -> ns).toArray();
    }
}
