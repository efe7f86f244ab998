package dev.tenon.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.backend.cuda.ffm.DriverCall;
import dev.tenon.backend.cuda.ffm.DriverLibrary;
import dev.tenon.kernels.nvidia.binding.CudaBinding;
import dev.tenon.kernels.nvidia.step.TokenRing;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// Stands in for the CUDA driver: its functions are upcalls to this object, which computes nothing
/// but keeps account of what is alive, in which context, and what is under way. It notes as a
/// violation what a real driver may answer with a crash.
///
/// The token that a step chooses from a row is the row's number. One a process: the driver's
/// function pointers are made once.
final class StandInDriver {
    static final int FAILURE = 999;

    /// What it notes.
    final List<String> violations = new ArrayList<>();
    /// Calls that fail.
    final Set<DriverCall> failing = EnumSet.noneOf(DriverCall.class);
    /// How often each function was called.
    final Map<DriverCall, Integer> calls = new EnumMap<>(DriverCall.class);

    private static StandInDriver installed;
    /// Places of the chosen tokens and of the count of steps among the arguments of the kernel
    /// `choose`.
    private static final int IDS = 11;

    private static final int ARRIVED = 12;

    private final List<Card> cards;
    private final Arena arena = Arena.global();
    private final TreeMap<Long, Thing> things = new TreeMap<>();
    private final ThreadLocal<Card> current = new ThreadLocal<>();
    private long next = 0x1000;

    /// A device.
    static final class Card {
        final String name;
        final int major;
        final int minor;
        final long totalBytes;
        final byte[] uuid = new byte[16];
        long usedBytes;
        int retained;

        Card(String name, int major, int minor, long totalBytes) {
            this.name = name;
            this.major = major;
            this.minor = minor;
            this.totalBytes = totalBytes;
            uuid[0] = (byte) name.hashCode();
            uuid[15] = 0x5a;
        }
    }

    /// A launch of the kernel `choose`.
    ///
    /// @param ids where tokens go on the host
    /// @param arrived where finished steps are counted
    /// @param rows rows of logits
    private record Choice(long ids, long arrived, int rows) {}

    /// Something that the driver has given out.
    private static final class Thing {
        final String kind;
        final Card card;
        long bytes;
        /// Of a stream: whether something is under way; what is being captured; of a graph: the
        /// choice, or null.
        boolean busy;
        boolean captures;
        Choice choice;
        String entry;

        Thing(String kind, Card card) {
            this.kind = kind;
            this.card = card;
        }
    }

    private StandInDriver(List<Card> cards) {
        this.cards = cards;
    }

    /// Puts a stand-in in the place of the driver, for the rest of this process.
    static synchronized StandInDriver install(Card... cards) {
        if (installed != null) {
            throw new IllegalStateException("there is a stand-in already: a process for each test class is expected");
        }
        StandInDriver driver = new StandInDriver(List.of(cards));
        installed = driver;
        DriverLibrary.libraries = name -> driver.lookup();
        return driver;
    }

    /// {@return what is alive, by kind; empty if everything was given back}
    synchronized Map<String, Integer> alive() {
        Map<String, Integer> counts = new TreeMap<>();
        things.values().forEach(thing -> counts.merge(thing.kind, 1, Integer::sum));
        counts.remove("function");
        cards.stream().filter(c -> c.retained > 0).forEach(c -> counts.merge("context", c.retained, Integer::sum));
        return counts;
    }

    synchronized int count(DriverCall call) {
        return calls.getOrDefault(call, 0);
    }

    /// Takes back host memory that a test made impossible to give back.
    synchronized void forgetHostMemory() {
        things.values().removeIf(thing -> thing.kind.equals("host memory"));
    }

    private SymbolLookup lookup() {
        Map<String, MemorySegment> stubs = new HashMap<>();
        try {
            MethodHandle answer = MethodHandles.lookup()
                    .findVirtual(
                            StandInDriver.class,
                            "answer",
                            MethodType.methodType(int.class, DriverCall.class, Object[].class))
                    .bindTo(this);
            for (DriverCall call : DriverCall.values()) {
                MethodType type = call.descriptor().toMethodType();
                MethodHandle handle = MethodHandles.insertArguments(answer, 0, call)
                        .asCollector(Object[].class, type.parameterCount())
                        .asType(type);
                stubs.put(call.name(), Linker.nativeLinker().upcallStub(handle, call.descriptor(), arena));
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return name -> Optional.ofNullable(stubs.get(name));
    }

    /// Nothing may leave an upcall but a result: the process would end.
    private synchronized int answer(DriverCall call, Object[] a) {
        try {
            calls.merge(call, 1, Integer::sum);
            return failing.contains(call) ? FAILURE : run(call, a);
        } catch (Throwable t) {
            violations.add(call + ": " + t);
            return FAILURE;
        }
    }

    private int run(DriverCall call, Object[] a) {
        switch (call) {
            case cuInit, cuFuncSetAttribute, cuEventSynchronize -> {}
            case cuDriverGetVersion -> at(a[0], 4).set(JAVA_INT, 0, 13000);
            case cuGetErrorName, cuGetErrorString ->
                at(a[1], 8).set(ADDRESS, 0, arena.allocateFrom("STAND_IN_FAILURE"));
            case cuDeviceGetCount -> at(a[0], 4).set(JAVA_INT, 0, cards.size());
            case cuDeviceGet -> at(a[0], 4).set(JAVA_INT, 0, (int) a[1]);
            case cuDeviceGetName -> at(a[0], (int) a[1]).setString(0, cards.get((int) a[2]).name);
            case cuDeviceGetUuid_v2 -> at(a[0], 16).copyFrom(MemorySegment.ofArray(cards.get((int) a[1]).uuid));
            case cuDeviceGetAttribute -> at(a[0], 4).set(JAVA_INT, 0, attribute((int) a[1], cards.get((int) a[2])));
            case cuDeviceTotalMem_v2 -> at(a[0], 8).set(JAVA_LONG, 0, cards.get((int) a[1]).totalBytes);
            case cuDevicePrimaryCtxRetain -> {
                cards.get((int) a[1]).retained++;
                at(a[0], 8).set(JAVA_LONG, 0, (int) a[1] + 1);
            }
            case cuDevicePrimaryCtxRelease_v2 -> release(cards.get((int) a[0]));
            case cuCtxSetCurrent -> setCurrent((long) a[0]);
            case cuMemGetInfo_v2 -> {
                at(a[0], 8).set(JAVA_LONG, 0, current.get().totalBytes - current.get().usedBytes);
                at(a[1], 8).set(JAVA_LONG, 0, current.get().totalBytes);
            }
            case cuMemAlloc_v2 -> {
                return allocate(a[0], (long) a[1]);
            }
            case cuMemAllocHost_v2 -> {
                long address = arena.allocate((long) a[1], 256).address();
                things.put(address, new Thing("host memory", current.get()));
                at(a[0], 8).set(JAVA_LONG, 0, address);
            }
            case cuMemFree_v2 -> current.get().usedBytes -= remove("memory", (long) a[0]).bytes;
            case cuMemFreeHost -> remove("host memory", (long) a[0]);
            case cuMemcpyHtoDAsync_v2 -> copy((long) a[0], 0, (long) a[3]);
            case cuMemcpyDtoHAsync_v2 -> copy((long) a[1], 0, (long) a[3]);
            case cuMemcpyDtoDAsync_v2 -> copy((long) a[0], (long) a[1], (long) a[3]);
            case cuMemsetD8Async -> copy((long) a[0], 0, (long) a[3]);
            case cuStreamCreate -> create("stream", a[0]);
            case cuStreamDestroy_v2 -> remove("stream", (long) a[0]);
            case cuStreamSynchronize, cuStreamQuery -> stream((long) a[0]).busy = false;
            case cuStreamBeginCapture_v2 -> stream((long) a[0]).captures = true;
            case cuStreamEndCapture -> {
                Thing stream = stream((long) a[0]);
                stream.captures = false;
                create("graph", a[1]).choice = stream.choice;
                stream.choice = null;
            }
            case cuGraphInstantiateWithFlags ->
                create("executable graph", a[0]).choice = the("graph", (long) a[1]).choice;
            case cuGraphDestroy -> things.remove((long) a[0]);
            case cuGraphLaunch -> launch(the("executable graph", (long) a[0]).choice, (long) a[1]);
            case cuGraphExecDestroy -> remove("executable graph", (long) a[0]);
            case cuModuleLoadDataEx -> create("module", a[0]);
            case cuModuleUnload -> remove("module", (long) a[0]);
            case cuModuleGetFunction -> {
                the("module", (long) a[1]);
                create("function", a[0]).entry = at(a[2], 256).getString(0);
            }
            case cuLaunchKernelEx -> {
                boolean chooses = the("function", (long) a[1]).entry.equals("choose");
                MemorySegment launch = at(a[0], 56);
                Choice choice = chooses
                        ? new Choice(argument(a[2], IDS), argument(a[2], ARRIVED), launch.get(JAVA_INT, 4))
                        : null;
                launch(choice, launch.get(JAVA_LONG, 32));
            }
            case cuEventCreate -> create("event", a[0]);
            case cuEventRecord, cuEventRecordWithFlags -> stream((long) a[1]);
            case cuEventElapsedTime -> at(a[0], 4).set(JAVA_FLOAT, 0, 0.001f);
            case cuEventDestroy_v2 -> remove("event", (long) a[0]);
        }
        return 0;
    }

    private static MemorySegment at(Object pointer, long bytes) {
        return ((MemorySegment) pointer).reinterpret(bytes);
    }

    private static long argument(Object pointers, int index) {
        return at(pointers, 8L * (index + 1))
                .getAtIndex(ADDRESS, index)
                .reinterpret(8)
                .get(JAVA_LONG, 0);
    }

    private static int attribute(int attribute, Card card) {
        return switch (attribute) {
            case 16 -> 132;
            case 75 -> card.major;
            case 76 -> card.minor;
            case 97 -> 232448;
            default -> 0;
        };
    }

    private void setCurrent(long context) {
        Card card = context == 0 ? null : cards.get((int) context - 1);
        if (card != null && card.retained == 0) {
            violations.add("the context of " + card.name + " was made current after it was given back");
        }
        current.set(card);
    }

    private void release(Card card) {
        if (--card.retained == 0) {
            things.forEach((handle, thing) -> {
                if (thing.card == card && !thing.kind.equals("function")) {
                    violations.add("a " + thing.kind + " outlives the context of " + card.name);
                }
            });
        }
    }

    private int allocate(Object out, long bytes) {
        Card card = current.get();
        if (card.usedBytes + bytes > card.totalBytes) {
            return CudaBinding.OUT_OF_MEMORY;
        }
        card.usedBytes += bytes;
        create("memory", out).bytes = bytes;
        next += bytes;
        return 0;
    }

    private Thing create(String kind, Object out) {
        next += 0x1000;
        Thing thing = new Thing(kind, current.get());
        things.put(next, thing);
        at(out, 8).set(JAVA_LONG, 0, next);
        return thing;
    }

    /// A living thing of the current context.
    private Thing the(String kind, long handle) {
        Thing thing = things.get(handle);
        if (thing == null || !thing.kind.equals(kind)) {
            throw new IllegalStateException("no such " + kind + " is alive");
        }
        if (thing.card != current.get()) {
            throw new IllegalStateException("a " + kind + " of " + thing.card.name + " was used in another context");
        }
        return thing;
    }

    private Thing stream(long handle) {
        return the("stream", handle);
    }

    private Thing remove(String kind, long handle) {
        Thing thing = the(kind, handle);
        boolean underWay = things.values().stream().anyMatch(t -> t.card == thing.card && t.busy);
        if (underWay && !kind.equals("event")) {
            violations.add("a " + kind + " was given back while work was under way");
        }
        things.remove(handle);
        return thing;
    }

    private void copy(long device, long otherDevice, long stream) {
        for (long address : otherDevice == 0 ? new long[] {device} : new long[] {device, otherDevice}) {
            Map.Entry<Long, Thing> below = things.floorEntry(address);
            if (below == null
                    || !below.getValue().kind.equals("memory")
                    || address >= below.getKey() + below.getValue().bytes
                    || below.getValue().card != current.get()) {
                violations.add("a copy to or from memory that is not this context's");
            }
        }
        Thing on = stream(stream);
        on.busy |= !on.captures;
    }

    /// Does at once what the device would do: a step that chooses tokens has then arrived.
    private void launch(Choice choice, long stream) {
        Thing on = stream(stream);
        if (on.captures) {
            on.choice = choice == null ? on.choice : choice;
            return;
        }
        on.busy = true;
        if (choice != null) {
            int all = TokenRing.STEPS * choice.rows;
            MemorySegment ids = MemorySegment.ofAddress(choice.ids).reinterpret(4L * all);
            for (int i = 0; i < all; i++) {
                ids.setAtIndex(JAVA_INT, i, i % choice.rows);
            }
            MemorySegment arrived = MemorySegment.ofAddress(choice.arrived).reinterpret(4);
            arrived.set(JAVA_INT, 0, arrived.get(JAVA_INT, 0) + 1);
        }
    }
}
