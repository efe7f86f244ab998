package dev.tenon.itest.testkit;

import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.tenon.api.device.Allocator;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.Compiler;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.Probe;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.TokenGenerator;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.itest.testkit.reference.ReferenceBackend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// A [ReferenceBackend] that breaks the contract in one named way.
///
/// @param sound what it wraps
/// @param fault how it breaks the contract
record FaultyBackend(Backend sound, Fault fault) implements Backend {
    /// Ways to break the contract, each the kind of mistake that a real backend makes.
    enum Fault {
        PAGES_TAKEN_AS_CONSECUTIVE,
        COPY_LOSES_ROWS,
        ADAPTERS_OF_THE_FIRST_SEQUENCE,
        LOGITS_OF_EVERY_ROW,
        TOKENS_NOT_CHECKED,
        LIMITS_NOT_CHECKED,
        CLOSE_KEEPS_MEMORY,
        FAILED_COMPILE_KEEPS_MEMORY,
        CLOSED_PLAN_RUNS,
        LATE_ROWS_MISS_THE_FIRST,
        A_THREAD_STAYS,
        A_FILE_STAYS_OPEN,
        A_MAPPING_STAYS,
        PLANS_SHARE_THEIR_SCRATCH,
        TOKENS_OF_THE_FIRST_ROW,
        TOKENS_UNASKED_FOR,
        MASKS_OF_THE_FIRST_ROW,
        SUPPORTS_SAYS_YES_TO_ALL,
        NOISE,
        BITS_CHANGE_NOW_AND_THEN
    }

    /// What faults leave behind; kept from the garbage collector, which would close it.
    private static final List<Object> LEAKED = Collections.synchronizedList(new ArrayList<>());

    private static volatile int shared;
    private static final AtomicInteger ROWS = new AtomicInteger();

    FaultyBackend(Fault fault) {
        this(new ReferenceBackend(), fault);
    }

    @Override
    public String id() {
        return sound.id();
    }

    @Override
    public int rank() {
        return sound.rank();
    }

    @Override
    public Probe probe() {
        return sound.probe();
    }

    @Override
    public List<DeviceInfo> devices() {
        return sound.devices();
    }

    @Override
    public Device open(DeviceOptions options) {
        Device device = sound.open(options);
        switch (fault) {
            case A_THREAD_STAYS -> leakThread();
            case A_FILE_STAYS_OPEN, A_MAPPING_STAYS -> leakFile();
            default -> {}
        }
        return new FaultyDevice(device, fault);
    }

    private static void leakThread() {
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(Duration.ofHours(1)); // longer than a test may stand still
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void leakFile() {
        try {
            Path file = Files.createTempFile("leak", null);
            FileChannel channel = FileChannel.open(file, READ, WRITE, DELETE_ON_CLOSE);
            if (fault == Fault.A_FILE_STAYS_OPEN) {
                LEAKED.add(channel);
            } else {
                LEAKED.add(channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, Arena.global()));
                channel.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record FaultyDevice(Device sound, Fault fault) implements Device, Compiler {
        @Override
        public DeviceInfo info() {
            return sound.info();
        }

        @Override
        public Allocator allocator() {
            return sound.allocator();
        }

        @Override
        public Compiler compiler() {
            return this;
        }

        @Override
        public Support supports(Op op, Weights weights, Collection<KernelProvider> kernels) {
            return fault == Fault.SUPPORTS_SAYS_YES_TO_ALL
                    ? new Support(Support.Level.GENERIC, "interpreted")
                    : sound.compiler().supports(op, weights, kernels);
        }

        @Override
        public Plan compile(CompileRequest request) {
            if (fault == Fault.FAILED_COMPILE_KEEPS_MEMORY) {
                var early = sound.allocator().allocate(64, "early");
                request.graph()
                        .expanded()
                        .weights()
                        .forEach(weight -> request.weights().data(weight.name()));
                early.close();
            }
            return new FaultyPlan(sound.compiler().compile(request), fault, request);
        }

        @Override
        public void close() {
            sound.close();
        }
    }

    private record FaultyPlan(Plan sound, Fault fault, CompileRequest request) implements Plan, KvPages {
        @Override
        public StepResult run(StepInput input) {
            StepResult result;
            try {
                result = sound.run(changed(input));
            } catch (IllegalArgumentException e) {
                if (fault == Fault.LIMITS_NOT_CHECKED) {
                    return sound.run(new StepInput());
                }
                throw e;
            }
            return new StepResult() {
                @Override
                public int rows() {
                    return result.rows();
                }

                @Override
                public void logits(int row, float[] target) {
                    result.logits(row, target);
                    if (fault == Fault.BITS_CHANGE_NOW_AND_THEN && ROWS.incrementAndGet() % 97 == 0) {
                        target[0] = Math.nextUp(target[0]);
                    }
                    for (int i = 0; fault == Fault.NOISE && i < target.length; i++) {
                        target[i] *= (float) (1 + 0.02 * Math.sin(i));
                    }
                }

                @Override
                public int token(int row) {
                    return switch (fault) {
                        case TOKENS_OF_THE_FIRST_ROW -> result.token(0);
                        case TOKENS_UNASKED_FOR -> Math.max(0, result.token(row));
                        default -> result.token(row);
                    };
                }
            };
        }

        private StepInput changed(StepInput in) {
            StepInput out = new StepInput();
            for (int t = 0; t < in.tokenCount(); t++) {
                if (t == 0 || in.sequence(t) != in.sequence(t - 1)) {
                    int s = in.sequence(t);
                    int adapted = fault == Fault.ADAPTERS_OF_THE_FIRST_SEQUENCE ? 0 : s;
                    out.addSequence(table(in.pageTable(s)), in.stateSlot(s), in.adapterScales(adapted));
                }
                TokenSampling choice = in.sampling(t);
                if (choice == null) {
                    boolean wants = in.wantsLogits(t) || fault == Fault.LOGITS_OF_EVERY_ROW;
                    out.addToken(token(in.token(t), t), in.position(t), wants);
                } else {
                    long[] mask = in.mask(fault == Fault.MASKS_OF_THE_FIRST_ROW ? 0 : t);
                    out.addToken(token(in.token(t), t), in.position(t), choice, mask);
                }
            }
            return out;
        }

        private int[] table(int[] pages) {
            int[] table = pages.clone();
            for (int i = 1; fault == Fault.PAGES_TAKEN_AS_CONSECUTIVE && i < table.length; i++) {
                table[i] = (table[0] + i) % pageCount();
            }
            return table;
        }

        private int token(int token, int t) {
            int vocabulary = ((CoreOp.Embedding)
                            request.graph().expanded().ops().getFirst())
                    .table()
                    .rows();
            return switch (fault) {
                case TOKENS_NOT_CHECKED -> Math.floorMod(token, vocabulary);
                case PLANS_SHARE_THEIR_SCRATCH -> throughScratch(token);
                case LATE_ROWS_MISS_THE_FIRST -> t > 8 ? 0 : token;
                default -> token;
            };
        }

        /// Long enough for another plan's step to come in, on a busy machine too.
        private static int throughScratch(int token) {
            shared = token;
            LockSupport.parkNanos(200_000);
            return shared;
        }

        @Override
        public KvPages kvPages() {
            return this;
        }

        @Override
        public Optional<StateSlots> states() {
            return sound.states();
        }

        @Override
        public PlanReport report() {
            return sound.report();
        }

        @Override
        public boolean takesMasks() {
            return sound.takesMasks();
        }

        @Override
        public Optional<TokenGenerator> generator() {
            return sound.generator();
        }

        @Override
        public int tokensPerPage() {
            return sound.kvPages().tokensPerPage();
        }

        @Override
        public int pageCount() {
            return sound.kvPages().pageCount();
        }

        @Override
        public long pageBytes() {
            return sound.kvPages().pageBytes();
        }

        @Override
        public void copy(int from, int to) {
            if (fault != Fault.COPY_LOSES_ROWS) {
                sound.kvPages().copy(from, to);
            }
        }

        @Override
        public void close() {
            if (fault != Fault.CLOSE_KEEPS_MEMORY && fault != Fault.CLOSED_PLAN_RUNS) {
                sound.close();
            }
        }
    }
}
