package dev.tenon.platform.cli.main;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Probe;
import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.RerankRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.Issue;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.media.MediaKind;
import dev.tenon.api.media.Picture;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.Tokenizer;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/// An engine without a model: answers come from a function, logits from another, and it notes what it is
/// asked.
public final class FakeEngine implements Engine {
    public final List<EmbeddingRequest> embeddings = new ArrayList<>();
    public final List<LoadRequest> loads = new ArrayList<>();
    public final List<GenerationRequest> requests = new ArrayList<>();
    public final List<int[]> evaluated = new ArrayList<>();
    public final List<QuantFormat> formats = new ArrayList<>();
    public final List<ModelArchitecture> architectures = new ArrayList<>();
    public final List<Backend> backends = new ArrayList<>();
    /// From all tokens of the session to the answer's text.
    public Function<String, String> answer = text -> " there was a fox.";
    /// From the token before to the logits.
    public Function<Integer, float[]> logits = token -> new float[FakeTokenizer.SIZE];
    public ChatTemplate template = FakeEngine::chatMl;
    public boolean addsBos;
    public boolean reportsEnd = true;
    public int context = 4096;
    public int truncations;
    public volatile int cancels;
    /// What models take that are loaded with a companion.
    public Set<MediaKind> media = Set.of(MediaKind.PICTURE);
    /// What was given beside tokens, at each call.
    public final List<List<PromptMedia>> given = new ArrayList<>();
    /// Called before each generation, when there is nothing to cancel yet.
    public Runnable beforeGeneration = () -> {};

    public static String chatMl(Map<String, Object> variables) {
        StringBuilder text = new StringBuilder();
        for (Object turn : (List<?>) variables.get("messages")) {
            Map<?, ?> message = (Map<?, ?>) turn;
            text.append("<|im_start|>")
                    .append(message.get("role"))
                    .append('\n')
                    .append(message.get("content"))
                    .append("<|im_end|>\n");
        }
        return Boolean.TRUE.equals(variables.get("add_generation_prompt"))
                ? text.append("<|im_start|>assistant\n").toString()
                : text.toString();
    }

    @Override
    public LoadedModel load(LoadRequest request) {
        loads.add(request);
        if (!Files.exists(request.path())) {
            throw new TenonException(ErrorCode.IO, request.path() + " does not exist. Check the path.");
        }
        return new Model(request);
    }

    @Override
    public List<LoadedModel> models() {
        return List.of();
    }

    @Override
    public List<Backend> backends() {
        return backends;
    }

    @Override
    public List<ModelArchitecture> architectures() {
        return architectures;
    }

    @Override
    public List<QuantFormat> formats() {
        return formats;
    }

    @Override
    public List<KernelProvider> kernelProviders() {
        return List.of();
    }

    @Override
    public void close() {}

    /// A backend that is there or not.
    public record FakeBackend(String id, int rank, Probe probe) implements Backend {
        public static FakeBackend available(String id) {
            return new FakeBackend(
                    id,
                    100,
                    new Probe(
                            true,
                            "found a fake processor",
                            List.of(new Issue(Issue.Severity.WARNING, "ENV-002", "it is slow", ""))));
        }

        @Override
        public List<DeviceInfo> devices() {
            return List.of(new DeviceInfo("0", "Fake 9000", "cpu", 3L << 30, Map.of("vector bits", "512")));
        }

        @Override
        public Device open(DeviceOptions options) {
            throw new BackendException(ErrorCode.BACKEND_UNAVAILABLE, "The fake backend opens nothing.");
        }
    }

    private final class Model implements LoadedModel {
        private final LoadRequest request;
        private final Tokenizer tokenizer = new FakeTokenizer(addsBos);

        Model(LoadRequest request) {
            this.request = request;
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.builder("fake")
                    .name("Fake model")
                    .contextLength(4096)
                    .embeddingLength(64)
                    .blockCount(2)
                    .headCount(4)
                    .headCountKv(2)
                    .keyLength(16)
                    .valueLength(16)
                    .feedForwardLength(128)
                    .vocabularySize(FakeTokenizer.SIZE)
                    .rmsEps(1e-5f)
                    .ropeDim(16)
                    .ropeFreqBase(10_000)
                    .ropeFreqScale(1)
                    .build();
        }

        @Override
        public GgufFile file() {
            return new FakeFile(request.path());
        }

        @Override
        public int contextLength() {
            return context;
        }

        @Override
        public Tokenizer tokenizer() {
            return tokenizer;
        }

        @Override
        public Optional<ChatTemplate> chatTemplate() {
            return Optional.ofNullable(template);
        }

        @Override
        public String backend() {
            return "fake-backend";
        }

        @Override
        public DeviceInfo device() {
            return new DeviceInfo("0", "Fake 9000", "cpu", 0, Map.of());
        }

        @Override
        public PlanReport report() {
            return new PlanReport(List.of(), 1000, new MemoryUse(10, 20, 0));
        }

        @Override
        public Map<String, Integer> outputs() {
            return Map.of(Graph.LOGITS, config().vocabularySize());
        }

        @Override
        public List<float[]> embed(EmbeddingRequest texts) {
            embeddings.add(texts);
            return texts.texts().stream()
                    .map(text -> new float[] {text.length, text[0] / 4f})
                    .toList();
        }

        @Override
        public float[] rerank(RerankRequest documents) {
            float[] scores = new float[documents.documents().size()];
            for (int i = 0; i < scores.length; i++) {
                String document = documents.documents().get(i);
                scores[i] = documents.query().length() - document.length();
            }
            return scores;
        }

        @Override
        public long loadNanos() {
            return 5_000_000;
        }

        @Override
        public Set<MediaKind> media() {
            return request.companion().isEmpty() ? Set.of() : media;
        }

        @Override
        public PromptMedia encode(Picture picture) {
            return new Rows(picture.size().width(), picture.size().height());
        }

        @Override
        public Session newSession() {
            return new FakeSession(tokenizer);
        }

        @Override
        public void close() {}
    }

    /// A picture as a row of its height for each pixel of a line.
    private record Rows(int rows, int height) implements PromptMedia {
        @Override
        public int[] tokens() {
            int[] tokens = new int[rows];
            Arrays.fill(tokens, -rows);
            return tokens;
        }

        @Override
        public float[] row(int index) {
            return new float[] {index, height};
        }
    }

    private record FakeFile(Path path) implements GgufFile {
        @Override
        public int version() {
            return 3;
        }

        @Override
        public GgufMetadata metadata() {
            return GgufMetadata.of(path.toString(), Map.of());
        }

        @Override
        public List<TensorInfo> tensors() {
            return List.of();
        }

        @Override
        public Optional<TensorInfo> tensor(String name) {
            return Optional.empty();
        }

        @Override
        public MemorySegment data(TensorInfo tensor) {
            throw new IllegalArgumentException("there are no tensors");
        }

        @Override
        public long sizeBytes() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private final class FakeSession implements Session {
        private final Tokenizer tokenizer;
        private int[] tokens = {};
        private volatile boolean cancelled;

        FakeSession(Tokenizer tokenizer) {
            this.tokenizer = tokenizer;
        }

        @Override
        public int[] tokens() {
            return tokens.clone();
        }

        @Override
        public void save(OutputStream to) throws IOException {
            DataOutputStream out = new DataOutputStream(to);
            for (int token : tokens) {
                out.writeInt(token);
            }
        }

        @Override
        public void restore(InputStream from) throws IOException {
            DataInputStream in = new DataInputStream(from);
            tokens = new int[in.available() / Integer.BYTES];
            for (int i = 0; i < tokens.length; i++) {
                tokens[i] = in.readInt();
            }
        }

        @Override
        public void adapters(Map<String, Float> scales) {
            throw new AssertionError("no command changes the adapters of a session");
        }

        @Override
        public Usage generate(GenerationRequest request, GenerationListener listener) {
            beforeGeneration.run();
            cancelled = false;
            requests.add(request);
            given.add(request.media());
            int cached = tokens.length;
            append(request.prompt());
            StringBuilder all = new StringBuilder();
            for (int token : tokens) {
                all.append(tokenizer.isControl(token) ? tokenizer.piece(token) : (char) token);
            }
            listener.onPrefill(request.prompt().length, request.prompt().length);
            int generated = 0;
            boolean stopped = false;
            FinishReason finish = FinishReason.STOP;
            for (int token : tokenizer.encode(answer.apply(all.toString()), false, true)) {
                if (generated == request.maxNewTokens()) {
                    finish = FinishReason.LENGTH;
                    break;
                }
                if (tokens.length == context) {
                    finish = FinishReason.LENGTH;
                    break;
                }
                append(token);
                generated++;
                listener.onToken(GeneratedToken.of(token));
                String piece = tokenizer.decode(new int[] {token});
                if (request.stop().contains(piece)) {
                    stopped = true;
                    break;
                }
                listener.onText(piece);
                if (cancelled) {
                    finish = FinishReason.CANCELLED;
                    break;
                }
            }
            if (finish == FinishReason.STOP && tokens.length == context) {
                finish = FinishReason.LENGTH;
            } else if (finish == FinishReason.STOP && !stopped) {
                append(FakeTokenizer.END);
                generated++;
                if (reportsEnd) {
                    listener.onToken(GeneratedToken.of(FakeTokenizer.END));
                }
            }
            cancelled = false;
            return new Usage(request.prompt().length, cached, generated, 2_000_000, 8_000_000, finish);
        }

        @Override
        public Generation submit(GenerationRequest request) {
            throw new AssertionError("commands wait for what they generate");
        }

        @Override
        public void evaluate(int[] tokens, Rows which, String output, RowConsumer consumer) {
            throw new UnsupportedOperationException("commands evaluate logits only");
        }

        @Override
        public void evaluate(int[] more, List<PromptMedia> media, Rows which, RowConsumer consumer) {
            given.add(media);
            evaluate(more, which, consumer);
        }

        @Override
        public void evaluate(int[] more, Rows which, RowConsumer consumer) {
            evaluated.add(more.clone());
            append(more);
            for (int i = 0; i < more.length; i++) {
                if (which == Rows.ALL || which == Rows.LAST && i == more.length - 1) {
                    consumer.accept(i, logits.apply(more[i]));
                }
            }
        }

        private void append(int... more) {
            if (tokens.length + more.length > context) {
                throw new OutOfResourcesException(
                        ErrorCode.CONTEXT_LENGTH,
                        "The prompt does not fit the context.",
                        more.length,
                        tokens.length,
                        context);
            }
            int length = tokens.length;
            tokens = Arrays.copyOf(tokens, length + more.length);
            System.arraycopy(more, 0, tokens, length, more.length);
        }

        @Override
        public int length() {
            return tokens.length;
        }

        @Override
        public void truncate(int length) {
            if (length > tokens.length) {
                throw new IllegalArgumentException("length " + length + " of " + tokens.length);
            }
            truncations++;
            tokens = Arrays.copyOf(tokens, length);
        }

        @Override
        public void cancel() {
            cancelled = true;
            cancels++;
        }

        @Override
        public void close() {}
    }
}
