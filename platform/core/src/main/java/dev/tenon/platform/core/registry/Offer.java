package dev.tenon.platform.core.registry;

import dev.tenon.platform.core.registry.ServiceRegistry.Entry;
import dev.tenon.platform.core.registry.ServiceRegistry.Refused;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;

/// What is offered to models of all that is installed.
///
/// @param services in the order they came
/// @param refused the services of bundles whose ids are taken
record Offer(List<Object> services, List<Refused> refused) {
    /// Finds out what is offered.
    ///
    /// @param entries all that is installed; of two with one id the earlier one is offered
    /// @param held numbers of the bundles that are not to be offered
    /// @param preferred tells whether a setting names a service to be offered for its id
    static Offer of(List<Entry> entries, Set<Long> held, BiPredicate<Object, String> preferred) {
        Map<String, Entry> holders = new HashMap<>();
        List<Entry> open = new ArrayList<>();
        for (Entry entry : entries) {
            if (!held.contains(entry.owner())) {
                open.add(entry);
                if (isRuled(entry)
                        && entry.ids().flaw() == null
                        && preferred.test(entry.service(), entry.ids().setting())) {
                    for (String id : entry.ids().all()) {
                        holders.putIfAbsent(id, entry);
                    }
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
                    holders.put(id, entry);
                }
            } else {
                Entry holder = holders.get(lost);
                refused.add(new Refused(
                        entry.owner(),
                        lost,
                        holder == null ? ServiceRegistry.NO_OWNER : holder.owner(),
                        entry.ids().setting()));
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
