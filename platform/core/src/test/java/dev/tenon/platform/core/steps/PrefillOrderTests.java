package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.device.StepResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PrefillOrderTests {
    private final PrefillOrder order = new PrefillOrder();
    private final List<Prompt> prompts = new ArrayList<>();

    private static final class Prompt extends SequenceTask {
        final String name;

        Prompt(String name, int tokens, int priority, String group) {
            super(new TokenSequence(), priority, group);
            this.name = name;
            for (int i = 0; i < tokens; i++) {
                sequence().append(1);
            }
        }

        @Override
        protected boolean cancelled() {
            return false;
        }

        @Override
        protected State stepped(StepResult result, int row) {
            return State.QUEUED;
        }

        @Override
        protected void ended(RuntimeException why) {}
    }

    private void add(String name, int tokens, int priority, String group) {
        Prompt prompt = new Prompt(name, tokens, priority, group);
        prompt.queue(prompts.size());
        prompts.add(prompt);
    }

    /// Runs steps of ten tokens until all prompts have run.
    ///
    /// @return the names of the prompts in the order in which they end
    private List<String> run() {
        List<String> ends = new ArrayList<>();
        while (!prompts.isEmpty()) {
            order.clear();
            prompts.sort(Comparator.<Prompt>comparingInt(SequenceTask::priority)
                    .reversed()
                    .thenComparing((a, b) -> a == b ? 0 : a.outranks(b) ? -1 : 1));
            prompts.forEach(order::add);
            int room = 10;
            for (SequenceTask task : order.sorted()) {
                int count = Math.min(room, task.pending());
                if (count > 0) {
                    task.sequence().advance(count);
                    order.ran(task);
                }
                room -= count;
                if (task.pending() == 0) {
                    ends.add(((Prompt) task).name);
                }
            }
            prompts.removeIf(prompt -> prompt.pending() == 0);
        }
        return ends;
    }

    @Test
    void promptsOfAHigherPriorityRunFirst() {
        add("low", 20, -1, "");
        add("plain", 20, 0, "");
        add("high", 200, 5, "");
        assertEquals(List.of("high", "plain", "low"), run());
    }

    @Test
    void equalPromptsEndInTheOrderOfTheirArrival() {
        add("a", 50, 0, "");
        add("b", 50, 0, "");
        add("c", 50, 0, "");
        assertEquals(List.of("a", "b", "c"), run());
    }

    @Test
    void shortPromptsDoNotWaitForTheEndOfALongOne() {
        add("long", 1000, 0, "");
        add("short", 30, 0, "");
        assertEquals(List.of("short", "long"), run());
    }

    @Test
    void aLongPromptGoesOnWhileShortOnesCome() {
        Prompt prompt = new Prompt("long", 100, 0, "");
        prompt.queue(0);
        int steps = 0;
        while (prompt.pending() > 0) {
            Prompt other = new Prompt("short", 10, 0, "");
            other.queue(++steps);
            order.clear();
            order.add(prompt);
            order.add(other);
            SequenceTask first = order.sorted().getFirst();
            first.sequence().advance(10);
            order.ran(first);
        }
        assertEquals(20, steps, 2);
    }

    @Test
    void aShortPromptIsFirstInTheStepAfterItCame() {
        for (int before = 1; before < 6; before++) {
            PrefillOrder one = new PrefillOrder();
            Prompt prompt = new Prompt("long", 100, 0, "");
            prompt.queue(0);
            for (int i = 0; i < before; i++) {
                one.clear();
                one.add(prompt);
                assertEquals(List.of(prompt), one.sorted());
                one.ran(prompt);
            }
            Prompt other = new Prompt("short", 10, 0, "");
            other.queue(1);
            one.clear();
            one.add(prompt);
            one.add(other);
            assertEquals(List.of(other, prompt), one.sorted(), "after " + before + " steps");
        }
    }

    @Test
    void shortPromptsOfEachGroupDoNotWaitForItsLongOne() {
        for (String group : List.of("a", "b")) {
            add("long", 1000, 0, group);
            add("short", 30, 0, group);
        }
        assertEquals(List.of("short", "short", "long", "long"), run());
    }

    @Test
    void groupsGetTheSameShareHoweverManyPromptsTheyHave() {
        for (int i = 0; i < 20; i++) {
            add("many", 100, 0, "a");
        }
        add("one", 100, 0, "b");
        add("other", 100, 0, "c");
        Map<String, Integer> places = new TreeMap<>();
        List<String> ends = run();
        for (int i = 0; i < ends.size(); i++) {
            places.putIfAbsent(ends.get(i), i);
        }
        assertEquals(Map.of("many", 0, "one", 1, "other", 2), places);
    }
}
