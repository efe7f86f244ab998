package dev.tenon.platform.server.provided;

import dev.tenon.api.chat.ChatModel;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.http.HttpModel;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;

/// A model in the hands of a provider's end point.
final class ProvidedModel implements HttpModel {
    private final Exchange exchange;
    private final ServedModel served;
    private final ServedModel.Lease lease;
    private final Generations generations;
    private Generations.Turn turn;
    private Session session;

    ProvidedModel(Exchange exchange, ServedModel served, ServedModel.Lease lease, Generations generations) {
        this.exchange = exchange;
        this.served = served;
        this.lease = lease;
        this.generations = generations;
    }

    @Override
    public String name() {
        return served.spec().name();
    }

    @Override
    public LoadedModel model() {
        return lease.model();
    }

    @Override
    public ChatModel chat() {
        return lease.chat();
    }

    @Override
    public Session session() throws InterruptedException {
        if (turn != null) {
            throw new IllegalStateException("there is a session already");
        }
        turn = generations.enter(exchange, served, 0);
        session = Generations.whenFree(lease.model()::newSession);
        return session;
    }

    @Override
    public void close() {
        try (lease) {
            if (session != null) {
                session.close();
            }
        } finally {
            if (turn != null) {
                turn.close();
                turn = null;
            }
        }
    }
}
