package dev.tenon.platform.core.engine;

import dev.tenon.api.device.CompileRequest;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.MemoryUse;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// The head of a model on a [FakeBackend]: its hidden states are the sums of all tokens so far. It adds up those in
/// pages of its own, and notes where the hidden state that it is given is another one.
final class FakeHead implements Plan, KvPages {
    private final FakeBackend device;
    private final int vocab;
    private final int maxTokens;
    private final int[][] pages;
    private boolean closed;

    FakeHead(FakeBackend device, CompileRequest request) {
        this.device = device;
        vocab = request.graph().output().width();
        maxTokens = request.options().maxBatchTokens();
        pages = new int[Math.ceilDiv(request.options().kvTokens(), FakeBackend.PAGE)][FakeBackend.PAGE];
    }

    @Override
    public StepResult run(StepInput input) {
        if (closed || input.tokenCount() > maxTokens) {
            throw new IllegalStateException("closed: " + closed + ", batch of " + input.tokenCount());
        }
        List<Integer> best = new ArrayList<>();
        List<Integer> sums = new ArrayList<>();
        for (int t = 0; t < input.tokenCount(); t++) {
            int[] table = input.pageTable(input.sequence(t));
            int position = input.position(t);
            pages[table[position / FakeBackend.PAGE]][position % FakeBackend.PAGE] = input.token(t);
            int sum = 0;
            for (int p = 0; p <= position; p++) {
                sum += pages[table[p / FakeBackend.PAGE]][p % FakeBackend.PAGE];
            }
            float[] before = input.row(t);
            if (before != null && before[0] != sum - input.token(t)) {
                device.wrongStates.add("position " + position + " of the head: a hidden state of " + before[0]
                        + ", pages of " + (sum - input.token(t)));
            }
            device.unknownStates.addAndGet(before == null && position > 0 ? 1 : 0);
            if (input.wantsLogits(t)) {
                best.add((device.misguess > 0 && sum % device.misguess == 0 ? sum + 1 : sum) % vocab);
                sums.add(sum);
            }
        }
        return new FakeResult(best, List.of(), sums, new AtomicInteger());
    }

    @Override
    public KvPages kvPages() {
        return this;
    }

    @Override
    public int tokensPerPage() {
        return FakeBackend.PAGE;
    }

    @Override
    public int pageCount() {
        return pages.length;
    }

    @Override
    public long pageBytes() {
        return FakeBackend.PAGE * 4L;
    }

    @Override
    public void copy(int from, int to) {
        pages[to] = pages[from].clone();
    }

    @Override
    public PlanReport report() {
        return new PlanReport(List.of(), 0, new MemoryUse(0, 0, 0));
    }

    @Override
    public void close() {
        closed = true;
    }
}
