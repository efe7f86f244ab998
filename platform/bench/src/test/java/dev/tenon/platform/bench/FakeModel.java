package dev.tenon.platform.bench;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.PlanProfiler;
import dev.tenon.api.device.PlanReport;
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
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.model.ModelConfig;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.control.MeasuredSession;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// Engine and model in one, which only notes what is asked of it and of its sessions.
public final class FakeModel implements Engine, LoadedModel, Tokenizer, GgufFile {
    static final int BOS = 99;

    final List<LoadRequest> loads = new ArrayList<>();
    /// `eval N first which` and `truncate N`, in order; after `#I ` if there are several sequences.
    final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    /// False where calls come for seconds, millions of them: then only tokens are counted.
    boolean notesCalls = true;
    /// The tokens evaluated by all sessions.
    final AtomicLong evaluated = new AtomicLong();
    /// What times the kernels, if anything does.
    PlanProfiler profiler;
    /// Calls that begin so fail.
    String failing = "nothing";
    private final AtomicInteger open = new AtomicInteger();
    boolean addsBos = true;

    @Override
    public LoadedModel load(LoadRequest request) {
        loads.add(request);
        return this;
    }

    @Override
    public Session newSession() {
        int number = open.getAndIncrement();
        int sequences = loads.getLast().maxSequences();
        if (number >= sequences) {
            throw new IllegalStateException("session " + number + " of " + sequences);
        }
        return new Sequence(sequences == 1 ? "" : "#" + number + " ");
    }

    private void note(String call) {
        if (notesCalls) {
            calls.add(call);
        }
    }

    /// A session.
    private final class Sequence implements Session, MeasuredSession {
        private final String prefix;
        private int length;

        Sequence(String prefix) {
            this.prefix = prefix;
        }

        @Override
        public int[] tokens() {
            return new int[length];
        }

        @Override
        public void save(OutputStream to) {
            throw new AssertionError("bench saves no sessions");
        }

        @Override
        public void restore(InputStream from) {
            throw new AssertionError("bench restores no sessions");
        }

        @Override
        public void evaluate(int[] tokens, Rows which, String output, RowConsumer consumer) {
            throw new AssertionError("bench reads no outputs");
        }

        @Override
        public void evaluate(int[] tokens, List<PromptMedia> media, Rows which, RowConsumer consumer) {
            throw new AssertionError("bench reads no logits");
        }

        @Override
        public void evaluate(int[] tokens, Rows which, RowConsumer consumer) {
            throw new AssertionError("bench reads no logits");
        }

        @Override
        public Generation submit(GenerationRequest request) {
            throw new AssertionError("bench waits for what it generates");
        }

        @Override
        public void evaluateUnread(int[] tokens) {
            for (int token : tokens) {
                if (token < 0 || token >= 100) {
                    throw new IllegalArgumentException("token " + token);
                }
            }
            String call = prefix + "eval " + tokens.length + (tokens[0] == BOS ? " bos " : " ") + "unread";
            note(call);
            evaluated.addAndGet(tokens.length);
            if (call.startsWith(failing)) {
                throw new IllegalStateException("made to fail");
            }
            length += tokens.length;
            if (length > loads.getLast().contextLength()) {
                throw new IllegalStateException("context " + length);
            }
        }

        @Override
        public void adapters(Map<String, Float> scales) {
            throw new AssertionError("bench changes no adapters");
        }

        @Override
        public void truncate(int keep) {
            note(prefix + "truncate " + keep);
            length = keep;
        }

        @Override
        public Usage generate(GenerationRequest request, GenerationListener listener) {
            if (!request.sampling().equals(SamplingParams.greedy()) || !request.ignoreEndOfGeneration()) {
                throw new IllegalArgumentException("bench takes the best token and goes on");
            }
            length += request.prompt().length + request.maxNewTokens();
            if (length > loads.getLast().contextLength()) {
                throw new IllegalStateException("context " + length);
            }
            note(prefix + "generate " + request.maxNewTokens() + (request.prompt()[0] == BOS ? " bos" : "")
                    + (request.processors().isEmpty() ? "" : " edits"));
            for (int i = 0; i < request.maxNewTokens(); i++) {
                listener.onToken(GeneratedToken.of(10 + i));
            }
            return new Usage(1, 0, request.maxNewTokens(), 1, 1, FinishReason.LENGTH);
        }

        @Override
        public int length() {
            return length;
        }

        @Override
        public void cancel() {}

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    @Override
    public Optional<PlanProfiler> profiler() {
        return Optional.ofNullable(profiler);
    }

    @Override
    public void close() {
        if (open.get() != 0) {
            throw new IllegalStateException(open.get() + " sessions are open");
        }
    }

    @Override
    public ModelConfig config() {
        return ModelConfig.builder("llama")
                .name("Fake")
                .contextLength(1000)
                .embeddingLength(64)
                .blockCount(2)
                .headCount(4)
                .headCountKv(2)
                .keyLength(16)
                .valueLength(16)
                .feedForwardLength(128)
                .vocabularySize(100)
                .rmsEps(1e-5f)
                .ropeDim(16)
                .ropeFreqBase(10_000)
                .ropeFreqScale(1)
                .build();
    }

    @Override
    public GgufFile file() {
        return this;
    }

    @Override
    public int contextLength() {
        return 1000;
    }

    @Override
    public Tokenizer tokenizer() {
        return this;
    }

    @Override
    public Optional<ChatTemplate> chatTemplate() {
        return Optional.empty();
    }

    @Override
    public String backend() {
        return "cpu-fake";
    }

    @Override
    public DeviceInfo device() {
        return new DeviceInfo("0", "Fake 9000", "cpu", 0, Map.of());
    }

    @Override
    public PlanReport report() {
        return new PlanReport(List.of(), 1 << 20, new MemoryUse(0, 0, 0));
    }

    @Override
    public Map<String, Integer> outputs() {
        return Map.of(Graph.LOGITS, config().vocabularySize());
    }

    @Override
    public List<float[]> embed(EmbeddingRequest texts) {
        throw new AssertionError("bench reads no outputs");
    }

    @Override
    public float[] rerank(RerankRequest documents) {
        throw new AssertionError("bench reads no outputs");
    }

    @Override
    public long loadNanos() {
        return 7_000_000;
    }

    @Override
    public List<LoadedModel> models() {
        return List.of();
    }

    @Override
    public List<Backend> backends() {
        return List.of();
    }

    @Override
    public List<ModelArchitecture> architectures() {
        return List.of();
    }

    @Override
    public List<QuantFormat> formats() {
        return List.of();
    }

    @Override
    public List<KernelProvider> kernelProviders() {
        return List.of();
    }

    @Override
    public int vocabularySize() {
        return 100;
    }

    @Override
    public int[] encode(String text, boolean addSpecial, boolean parseSpecial) {
        throw new UnsupportedOperationException("bench does not tokenise");
    }

    @Override
    public byte[] bytes(int id) {
        return new byte[0];
    }

    @Override
    public String piece(int id) {
        return "";
    }

    @Override
    public StreamDecoder decoder() {
        throw new UnsupportedOperationException("bench does not decode text");
    }

    @Override
    public boolean isEndOfGeneration(int id) {
        return false;
    }

    @Override
    public boolean isControl(int id) {
        return false;
    }

    @Override
    public OptionalInt bos() {
        return OptionalInt.of(BOS);
    }

    @Override
    public OptionalInt eos() {
        return OptionalInt.empty();
    }

    @Override
    public boolean addsBos() {
        return addsBos;
    }

    @Override
    public Path path() {
        return loads.getLast().path();
    }

    @Override
    public int version() {
        return 3;
    }

    @Override
    public GgufMetadata metadata() {
        return GgufMetadata.of("fake", Map.of("general.file_type", GgufValue.ofUint32(18)));
    }

    @Override
    public List<TensorInfo> tensors() {
        return List.of(new TensorInfo("w", 0, List.of(1_000_000L, 1236L), 0, 0, 1_013_905_920L));
    }

    @Override
    public Optional<TensorInfo> tensor(String name) {
        return Optional.empty();
    }

    @Override
    public MemorySegment data(TensorInfo tensor) {
        throw new UnsupportedOperationException("there are no weights");
    }

    @Override
    public long sizeBytes() {
        return 0;
    }
}
