package dev.tenon.spring;

import dev.tenon.Model;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/// Whether a model is loaded, where it runs, and what it does.
final class TenonHealthIndicator extends AbstractHealthIndicator {
    private final Model model;

    TenonHealthIndicator(Model model) {
        super("The model's state cannot be read");
        this.model = model;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.withDetail("model", model.name());
        if (model.isClosed()) {
            health.down().withDetail("reason", "The model was closed");
            return;
        }
        health.up()
                .withDetail("backend", model.loaded().backend())
                .withDetail("running", model.runningRequests())
                .withDetail("waiting", model.waitingRequests());
    }
}
