package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.StepResult;
import dev.tenon.api.error.BackendException;
import dev.tenon.platform.core.steps.SequenceTask.State;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// The states of a task: each change that the diagram has, and none that it has not.
class SequenceTaskTests {
    private static final Map<State, Consumer<SequenceTask>> CHANGES = new EnumMap<>(Map.of(
            State.NEW, SequenceTask::renew,
            State.QUEUED, task -> task.queue(0),
            State.RUNNING, SequenceTask::run,
            State.PAUSED, SequenceTask::pause,
            State.ENDED, SequenceTask::finish));

    private static final Map<State, Set<State>> DIAGRAM = Map.of(
            State.NEW, EnumSet.of(State.QUEUED),
            State.QUEUED, EnumSet.of(State.RUNNING, State.ENDED),
            State.RUNNING, EnumSet.of(State.QUEUED, State.PAUSED, State.ENDED),
            State.PAUSED, EnumSet.of(State.QUEUED, State.ENDED),
            State.ENDED, EnumSet.of(State.NEW));

    /// Goes after a step where it is told to, or fails.
    private static final class Task extends SequenceTask {
        State next = State.QUEUED;
        RuntimeException failing;
        RuntimeException end;
        boolean ended;

        Task() {
            super(new TokenSequence(), 0, "");
        }

        static Task in(State state) {
            Task task = new Task();
            List<State> way = switch (state) {
                case NEW -> List.of();
                case QUEUED -> List.of(State.QUEUED);
                case RUNNING -> List.of(State.QUEUED, State.RUNNING);
                case PAUSED -> List.of(State.QUEUED, State.RUNNING, State.PAUSED);
                case ENDED -> List.of(State.QUEUED, State.ENDED);
            };
            way.forEach(each -> CHANGES.get(each).accept(task));
            return task;
        }

        @Override
        protected boolean cancelled() {
            return false;
        }

        @Override
        protected State stepped(StepResult result, int row) {
            if (failing != null) {
                throw failing;
            }
            return next;
        }

        @Override
        protected void ended(RuntimeException why) {
            ended = true;
            end = why;
        }
    }

    @Test
    void onlyTheChangesOfTheDiagramAreAllowed() {
        for (State from : State.values()) {
            for (State to : State.values()) {
                Task task = Task.in(from);
                if (DIAGRAM.get(from).contains(to)) {
                    CHANGES.get(to).accept(task);
                    assertEquals(to, task.state(), "from " + from);
                } else {
                    IllegalStateException e = assertThrows(
                            IllegalStateException.class, () -> CHANGES.get(to).accept(task), () -> from + " to " + to);
                    assertEquals("a task goes from " + from + " to " + to, e.getMessage());
                    assertEquals(from, task.state());
                }
            }
        }
    }

    @Test
    void aTaskGoesWhereItSaysAfterAStep() {
        for (State next : List.of(State.QUEUED, State.PAUSED, State.ENDED)) {
            Task task = Task.in(State.RUNNING);
            task.next = next;
            task.take(null, 0, 0);
            assertEquals(next, task.next());
        }
    }

    @Test
    void aTaskThatFailsEndsWithTheFirstReasonAndCanBeginAgain() {
        Task task = Task.in(State.RUNNING);
        task.failing = new IllegalArgumentException("the first");
        task.take(null, 0, 0);
        task.fail(new IllegalArgumentException("the second"));
        assertEquals(State.ENDED, task.next());
        assertFalse(task.ended);
        task.finish();
        assertTrue(task.ended);
        assertSame(task.failing, task.end);
        assertFalse(task.failed());
    }

    @Test
    void anErrorReachesTheSessionAsAnException() {
        Task task = Task.in(State.RUNNING);
        NoClassDefFoundError error = new NoClassDefFoundError("a class of a bundle that is gone");
        task.fail(error);
        task.finish();
        assertSame(
                error,
                assertThrows(BackendException.class, () -> {
                            throw task.end;
                        })
                        .getCause());
    }
}
