package dev.tenon.platform.bundles.manager;

import dev.tenon.platform.cli.TenonCommand;
import dev.tenon.platform.core.control.EngineControl;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;

/// Which ids of new bundles other bundles have.
final class TakenIds {
    private TakenIds() {}

    /// Compares the ids of new bundles' services with those of all others.
    ///
    /// @param places from the numbers of the new bundles to those of the old ones
    /// @param engine knows formats, architectures, backends and tokenizers
    /// @param context knows commands
    /// @return what is taken, in one text; empty if nothing is
    static List<String> find(Map<Long, Long> places, EngineControl engine, BundleContext context) {
        List<String> taken = new ArrayList<>(engine.refusedIds(places.keySet(), new HashSet<>(places.values())));
        taken.addAll(commands(places, context));
        return shortened(taken);
    }

    /// {@return the first text, which says how many there are besides}
    ///
    /// @param taken a text for each id that is taken
    static List<String> shortened(List<String> taken) {
        return taken.size() < 2 ? taken : List.of(taken.getFirst() + ", and " + (taken.size() - 1) + " more");
    }

    private static List<String> commands(Map<Long, Long> places, BundleContext context) {
        ServiceReference<?>[] all;
        try {
            all = context.getAllServiceReferences(TenonCommand.class.getName(), null);
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException("no filter was given", e);
        }
        List<String> taken = new ArrayList<>();
        Set<Long> gone = new HashSet<>(places.values());
        for (ServiceReference<?> own : all == null ? new ServiceReference<?>[0] : all) {
            for (ServiceReference<?> other : all) {
                Bundle holder = other.getBundle();
                if (own.getBundle() != null
                        && holder != null
                        && places.containsKey(own.getBundle().getBundleId())
                        && !places.containsKey(holder.getBundleId())
                        && !gone.contains(holder.getBundleId())
                        && own.getProperty(TenonCommand.NAME).equals(other.getProperty(TenonCommand.NAME))) {
                    taken.add("command " + own.getProperty(TenonCommand.NAME) + " is offered by "
                            + BundleManager.title(holder) + " already");
                }
            }
        }
        return taken;
    }
}
