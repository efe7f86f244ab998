package dev.tenon.kernels.nvidia.step;

import dev.tenon.api.device.PlanOptions;
import dev.tenon.api.device.StepCheck;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.kernels.nvidia.KvBuffer;
import java.util.ArrayList;
import java.util.List;

/// What the steps of one planned graph have in common: how large they can be, and which shape a step has.
///
/// @param options limits of the plan
/// @param pageCount pages of the cache, and entries of a page table
/// @param vocabularySize number of token ids that all embeddings know
/// @param positions number of positions that all tables of positions know; [Integer#MAX_VALUE] without one
/// @param causal whether no row sees what follows it
/// @param tileRows rows of an attention tile; 0 if attention takes no tiles
/// @param deepFrom first position from which steps are [StepShape#deep]; [Integer#MAX_VALUE] for none
/// @param logitsSelected whether the logits have a row for each token that wants them; otherwise they have
///     one for each token
/// @param maxLogitRows most rows that one run computes after `select_rows`; more need further runs with 0
///     rows
/// @param stateSlots slots for states of sequences; 0 for a graph without states
/// @param windowPages window pages; 0 where layers with a window keep all positions
/// @param factors what rows weight the changes of adapters with; empty for a graph without adapters
/// @param given what the graph reads of what comes with tokens
public record StepLimits(
        PlanOptions options,
        int pageCount,
        int vocabularySize,
        int positions,
        boolean causal,
        int tileRows,
        int deepFrom,
        boolean logitsSelected,
        int maxLogitRows,
        int stateSlots,
        int windowPages,
        List<AdapterFactor> factors,
        GivenInput given) {
    /// Rows of the smallest step that runs the kernels for many rows everywhere, those of experts, too.
    public static final int INVARIANT_ROWS = 16;

    /// Takes a copy of the factors.
    public StepLimits {
        factors = List.copyOf(factors);
    }

    /// {@return most rows after `select_rows` in a run of a plan}
    ///
    /// @param options limits of the plan
    public static int maxLogitRows(PlanOptions options) {
        return Math.min(Buckets.of(options.maxBatchTokens()), Math.max(16, Buckets.of(options.maxSequences())));
    }

    /// {@return what checks the input of steps}
    public StepCheck check() {
        return new StepCheck(options, KvBuffer.TOKENS, pageCount, vocabularySize, stateSlots, windowPages);
    }

    /// Checks that tables of positions have a vector for each token of some steps.
    ///
    /// @param input the first step
    /// @param steps how many, each of one position further than the one before
    /// @throws IllegalArgumentException if one has none
    public void checkPositions(StepInput input, int steps) {
        for (int t = 0; positions < Integer.MAX_VALUE && t < input.tokenCount(); t++) {
            if ((long) input.position(t) + steps - 1 >= positions) {
                throw new IllegalArgumentException("position " + (input.position(t) + steps - 1L) + " at index " + t
                        + "; the model has vectors for positions 0 to " + (positions - 1));
            }
        }
    }

    /// {@return most rows that want logits in a step in which the device samples tokens: there is memory for
    ///     the candidates of one row of each sequence; 0 if it cannot, because logits have a row for each
    ///     token, or because it does not write what the next step's rows see after them}
    public int maxSampledRows() {
        return logitsSelected && causal ? Math.min(bucket(options.maxSequences()), maxLogitRows) : 0;
    }

    /// {@return the number of rows that some rows are planned as}
    ///
    /// @param rows 0 gives 0
    public int bucket(int rows) {
        return options.batchInvariant() && rows > 0 ? Math.max(INVARIANT_ROWS, Buckets.of(rows)) : Buckets.of(rows);
    }

    /// {@return the shape of a step whose tokens the host samples}
    ///
    /// @param tokens number of tokens, at least 1
    /// @param wanted number of rows that want logits
    /// @param sequences number of sequences that have tokens
    public StepShape shape(int tokens, int wanted, int sequences) {
        return options.batchInvariant()
                ? new StepShape(bucket(tokens), bucket(wanted), false)
                : StepShape.of(tokens, wanted, sequences);
    }

    /// {@return the shape of a step in which the device samples a token for each sequence}
    ///
    /// @param sequences number of sequences, each with one token
    /// @param candidates most tokens that it samples among, 1 to [TokenRing#MOST_CANDIDATES]
    public StepShape sampling(int sequences, int candidates) {
        return shape(sequences, sequences, sequences).sampling(candidates);
    }

    /// {@return where the input of a step lies}
    ///
    /// @param shape the step's sizes
    public StepLayout layout(StepShape shape) {
        return new StepLayout(shape, tileRows, options.maxSequences(), !causal, stateSlots > 0, factors, given);
    }

    /// {@return the shape of a step whose tokens the host samples}
    ///
    /// @param input the step, at least one token
    /// @param logitRows how many of the rows that want logits its first run computes
    public StepShape shape(StepInput input, int logitRows) {
        StepShape shape = shape(input.tokenCount(), logitRows, sequences(input));
        return at(shape.reading(adapters(input)).withGiven(given.in(input)), lastPosition(input));
    }

    /// What a step reads of adapters: as few cases as serve most steps, because each has launches of its own.
    private int adapters(StepInput input) {
        if (factors.isEmpty()) {
            return StepShape.EVERY;
        }
        int read = 0;
        for (int s = 0; s < input.sequenceCount(); s++) {
            float[] scales = input.adapterScales(s);
            for (int a = 0; a < scales.length; a++) {
                if (scales[a] != 0 && read != a + 1) {
                    if (read != 0) {
                        return StepShape.EVERY;
                    }
                    read = a + 1;
                }
            }
        }
        return read;
    }

    private static int sequences(StepInput input) {
        int count = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            if (t == 0 || input.sequence(t) != input.sequence(t - 1)) {
                count++;
            }
        }
        return count;
    }

    /// {@return the largest position in a step}
    ///
    /// @param input the step
    public static int lastPosition(StepInput input) {
        int last = 0;
        for (int t = 0; t < input.tokenCount(); t++) {
            last = Math.max(last, input.position(t));
        }
        return last;
    }

    /// {@return the shape of a step with the kernels for a depth; its input has the same layout}
    ///
    /// @param shape the step's sizes
    /// @param position the largest position in the step
    public StepShape at(StepShape shape, int position) {
        return position >= deepFrom ? shape.withDepth() : shape;
    }

    /// {@return the shape of steps of one token for each sequence, all of which the device samples}
    ///
    /// @param input one token for each sequence, all of them wanting logits
    /// @param choices how to sample, one for each sequence
    /// @param steps how many steps, at least 1
    /// @throws IllegalArgumentException if the input is anything else, or the device cannot sample so
    public StepShape sampling(StepInput input, List<TokenSampling> choices, int steps) {
        int rows = input.tokenCount();
        if (steps < 1 || rows < 1 || rows > maxLogitRows) {
            throw new IllegalArgumentException(steps + " steps of " + rows
                    + " tokens; expected at least 1 step and 1 to " + maxLogitRows + " tokens");
        }
        if (rows != input.logitRows() || rows != input.sequenceCount() || rows != choices.size()) {
            throw new IllegalArgumentException(rows + " tokens, " + input.logitRows() + " that want logits, "
                    + input.sequenceCount() + " sequences, " + choices.size() + " choices; expected one of each");
        }
        if (given.in(input) != 0) {
            throw new IllegalArgumentException("steps that follow each other on the device, of tokens that come with"
                    + " rows, places or spans; run these as steps of their own");
        }
        int candidates = 0;
        for (TokenSampling choice : choices) {
            int own = TokenRing.candidates(choice);
            if (own == 0) {
                throw new IllegalArgumentException("the device cannot sample as " + choice
                        + " says; expected temperature 0 or a top-k of 1 to " + TokenRing.MOST_CANDIDATES);
            }
            candidates = Math.max(candidates, own);
        }
        return sampling(rows, candidates).reading(adapters(input));
    }

    /// {@return every shape that the first run of a step has if the host samples its tokens}
    public List<StepShape> shapes() {
        List<StepShape> shapes = new ArrayList<>();
        for (int rows = bucket(1); rows <= bucket(options.maxBatchTokens()); rows *= 2) {
            for (int wanted = bucket(1); wanted <= Math.min(rows, maxLogitRows); wanted *= 2) {
                shapes.add(new StepShape(rows, wanted, false));
                if (rows > StepShape.FEW && !options.batchInvariant()) {
                    shapes.add(new StepShape(rows, wanted, true));
                }
            }
        }
        return andGiven(shapes);
    }

    /// {@return shapes of which no other step needs more scratch memory}
    public List<StepShape> largest() {
        List<StepShape> shapes = new ArrayList<>();
        int maxRows = bucket(options.maxBatchTokens());
        for (int rows = bucket(1); rows <= maxRows; rows *= 2) {
            int most = Math.min(rows, maxLogitRows);
            for (int selected = rows == maxRows ? bucket(1) : most; selected <= most; selected *= 2) {
                StepShape plain = new StepShape(rows, selected, false);
                shapes.add(plain);
                shapes.add(at(plain, Integer.MAX_VALUE));
                if (rows > StepShape.FEW && !options.batchInvariant()) {
                    shapes.add(new StepShape(rows, selected, true));
                }
            }
        }
        int sampled = maxSampledRows();
        if (sampled > 0) {
            for (int rows = bucket(1); rows <= Math.min(maxRows, bucket(options.maxSequences())); rows *= 2) {
                shapes.add(sampling(rows, TokenRing.MOST_CANDIDATES));
            }
            shapes.add(new StepShape(maxRows, sampled, false).sampling(TokenRing.MOST_CANDIDATES));
        }
        return andGiven(shapes);
    }

    private List<StepShape> andGiven(List<StepShape> shapes) {
        if (given.all() != 0) {
            shapes.addAll(
                    shapes.stream().map(shape -> shape.withGiven(given.all())).toList());
        }
        return shapes;
    }
}
