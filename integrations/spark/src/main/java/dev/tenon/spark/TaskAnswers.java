package dev.tenon.spark;

import dev.tenon.spark.RowEngine.Answer;
import java.io.File;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.TaskCompletionListener;

/// The answers to the rows of one task. Ends with the task, which ends what is generated. For the
/// thread of the task.
final class TaskAnswers {
    /// How often a task that waits looks whether it was cancelled.
    private static final long LOOK_MILLIS = 20;

    private final TaskContext task;
    private final RowEngine.Answering answering;
    private final TenonMetrics metrics;
    private final long seed;

    /// Finds or loads the model.
    ///
    /// @param task the task; null where the driver evaluates a query without one
    TaskAnswers(TaskContext task, Work work, TenonOptions options, TenonMetrics metrics) {
        this.task = task;
        this.metrics = metrics;
        this.seed = options.seed();
        answering = begin(place(task, work, options), work, options);
        if (answering.hasLoaded()) {
            metrics.models().add(1L);
        }
        if (task != null) {
            task.addTaskCompletionListener((TaskCompletionListener) ended -> answering.close());
        }
    }

    private static RowEngine.Answering begin(RowEngine.Place place, Work work, TenonOptions options) {
        RowEngine engine = RowEngine.find();
        try {
            return engine.begin(place, work, options);
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException(
                    "The engine is not on the class path: " + e + ". Hand the artifact tenon to the job, too (--jars).",
                    e);
        } catch (RuntimeException e) {
            throw told(e);
        }
    }

    /// {@return a failure as one that each driver can read: an older one cannot load the classes of ours}
    private static IllegalStateException told(Throwable cause) {
        IllegalStateException failure = new IllegalStateException(cause.toString());
        failure.setStackTrace(cause.getStackTrace());
        return failure;
    }

    private static RowEngine.Place place(TaskContext task, Work work, TenonOptions options) {
        SparkConf conf = SparkEnv.get().conf();
        String backend = options.text(TenonOption.BACKEND);
        ResourceInformation gpu = task == null ? null : task.resourcesJMap().get("gpu");
        int threads = options.number(TenonOption.THREADS);
        return new RowEngine.Place(
                file(options.text(TenonOption.MODEL)),
                backend,
                gpu == null || backend.startsWith("cpu") ? "" : gpu.addresses()[0],
                threads > 0 ? threads : conf.getInt("spark.executor.cores", 0),
                options.number(TenonOption.SEQUENCES),
                options.number(TenonOption.CONTEXT_LENGTH),
                work == Work.EMBED,
                Map.copyOf(options.settings()));
    }

    /// {@return where a file of `spark.files` is, or the name as it is}
    private static String file(String name) {
        if (name.indexOf('/') < 0 && name.indexOf(':') < 0) {
            File added = new File(SparkFiles.get(name));
            if (added.exists()) {
                return added.getPath();
            }
        }
        return name;
    }

    /// Begins to answer a row.
    ///
    /// @param text its text
    /// @param query what it is scored for; null for other work
    /// @param key what tells it from others with the same text; perhaps null
    /// @return its answer, for [#await(Future)]; null where there is nothing to answer
    Future<Answer> ask(String text, String query, Object key) {
        return answering.ask(new RowEngine.Question(text, query, seed(seed, text, String.valueOf(key))));
    }

    /// {@return where the random sequence of a row begins: the same on each machine and in each partition}
    static long seed(long seed, String text, String key) {
        long hash = seed;
        for (String part : new String[] {text, key}) {
            for (int i = 0; i < part.length(); i++) {
                hash = hash * 0x100000001b3L ^ part.charAt(i);
            }
            hash = (hash ^ hash >>> 29) * 0x9e3779b97f4a7c15L;
        }
        return hash ^ hash >>> 32;
    }

    /// Waits for an answer, as long as the task is not cancelled.
    ///
    /// @throws TaskKilledException if it is, once nothing is generated for it any more
    /// @throws IllegalStateException if the machine failed, and not the row
    Answer await(Future<Answer> future) {
        long begin = System.nanoTime();
        while (true) {
            try {
                Answer answer = future.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                metrics.add(answer, System.nanoTime() - begin);
                return answer;
            } catch (TimeoutException e) {
                if (task != null && task.isInterrupted()) {
                    throw cancelled("The job was cancelled");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw cancelled("The task was interrupted");
            } catch (ExecutionException e) {
                throw told(e.getCause());
            }
        }
    }

    private TaskKilledException cancelled(String reason) {
        answering.close();
        return new TaskKilledException(reason);
    }

    /// Ends what runs, where no task does it.
    void close() {
        answering.close();
    }
}
