package dev.tenon.platform.core.registry;

import dev.tenon.platform.core.registry.ServiceRegistry.Entry;
import dev.tenon.platform.core.registry.ServiceRegistry.Refused;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/// What is offered to models of all that is installed.
///
/// @param services in the order they came
/// @param refused the services of bundles whose ids are taken
record Offer(List<Object> services, List<Refused> refused) {
    /// Finds out what is offered.
    ///
    /// @param entries all that is installed; of two with one id that of the higher rank is offered, of equal ones
    ///     the earlier one
    /// @param held numbers of the bundles that are not to be offered
    /// @param preferred tells whether a setting names an entry's service to be offered for its id
    static Offer of(List<Entry> entries, Set<Long> held, Predicate<Entry> preferred) {
        Map<String, Entry> holders = new HashMap<>();
        List<Entry> open = new ArrayList<>();
        for (Entry entry : entries) {
            if (!held.contains(entry.owner())) {
                open.add(entry);
                if (isRuled(entry) && entry.ids().flaw() == null && preferred.test(entry)) {
                    for (String id : entry.ids().all()) {
                        holders.putIfAbsent(id, entry);
                    }
                }
            }
        }
        Set<String> named = Set.copyOf(holders.keySet());
        for (Entry entry : open) {
            for (String id : entry.ids().all()) {
                // Ids of which all ranks are 0 fall to those that are offered, below.
                boolean first = !holders.containsKey(id) && entry.rank() > 0;
                if (first
                        || !named.contains(id)
                                && holders.containsKey(id)
                                && entry.rank() > holders.get(id).rank()) {
                    holders.put(id, entry);
                }
            }
        }
        List<Object> services = new ArrayList<>();
        List<Refused> refused = new ArrayList<>();
        for (Entry entry : open) {
            String lost = isRuled(entry) ? lost(entry, holders) : null;
            if (lost == null) {
                services.add(entry.service());
                for (String id : entry.ids().all()) {
                    holders.putIfAbsent(id, entry);
                }
            } else {
                Entry holder = holders.get(lost);
                refused.add(new Refused(
                        entry.owner(),
                        lost,
                        holder == null ? ServiceRegistry.NO_OWNER : holder.owner(),
                        entry.ids().setting(),
                        holder != null && holder.rank() > entry.rank()));
            }
        }
        return new Offer(Collections.unmodifiableList(services), List.copyOf(refused));
    }

    private static boolean isRuled(Entry entry) {
        return entry.owner() != ServiceRegistry.NO_OWNER;
    }

    /// The id that a service cannot have, or why it cannot have it; null if there is none.
    private static String lost(Entry entry, Map<String, Entry> holders) {
        if (entry.ids().flaw() != null) {
            return entry.ids().flaw();
        }
        for (String id : entry.ids().all()) {
            if (holders.getOrDefault(id, entry) != entry) {
                return id;
            }
        }
        return null;
    }
}
