package dev.tenon.spring;

import dev.tenon.Model;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/// When the context stops, waits for the requests that run, as long as
/// `spring.lifecycle.timeout-per-shutdown-phase` allows. What runs longer ends when the models are closed.
final class TenonLifecycle implements SmartLifecycle {
    /// Below the phase in which servers stop, `DEFAULT_PHASE - 2048`: their requests end first.
    static final int PHASE = DEFAULT_PHASE - 4096;

    private static final Logger LOG = LoggerFactory.getLogger(TenonLifecycle.class);

    private final List<Model> models;
    private volatile boolean running;

    TenonLifecycle(List<Model> models) {
        this.models = models;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop(Runnable callback) {
        Thread.ofVirtual().name("tenon-stop").start(() -> {
            stop();
            callback.run();
        });
    }

    @Override
    public void stop() {
        try {
            for (Model model : models) {
                if (model.runningRequests() > 0) {
                    LOG.info("Waiting for the requests of {}", model.name());
                }
                model.awaitIdle();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
