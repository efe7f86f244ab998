package dev.tenon.platform.grammar.expr;

import dev.tenon.platform.grammar.expr.Expr.Head;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Orders rules so that each comes before those that its texts begin with.
final class RuleOrder {
    private RuleOrder() {}

    /// A rule on the way down, and how many of its heads were looked at.
    private static final class Visit {
        final Rule rule;
        final Head[] heads;
        int done;

        Visit(Rule rule, Derivatives derivatives) {
            this.rule = rule;
            this.heads = derivatives.heads(rule.body());
        }
    }

    /// Gives each rule its rank.
    ///
    /// @param rules all rules
    /// @param derivatives of their pool
    /// @throws GrammarException (`GRAMMAR-002`) if a rule begins with itself
    static void rank(List<Rule> rules, Derivatives derivatives) {
        Map<Rule, Boolean> finished = new HashMap<>();
        int rank = 0;
        for (Rule start : rules) {
            List<Visit> path = new ArrayList<>();
            if (finished.putIfAbsent(start, false) == null) {
                path.add(new Visit(start, derivatives));
            }
            while (!path.isEmpty()) {
                Visit visit = path.getLast();
                if (visit.done == visit.heads.length) {
                    finished.put(visit.rule, true);
                    visit.rule.rank(--rank);
                    path.removeLast();
                    continue;
                }
                Rule next = visit.heads[visit.done++].rule();
                Boolean state = finished.putIfAbsent(next, false);
                if (state == null) {
                    path.add(new Visit(next, derivatives));
                } else if (!state) {
                    throw GrammarException.unsupported("Rule '" + next.name()
                            + "' begins with itself. Write the repetition as '*' or '+', or with the rule at the end.");
                }
            }
        }
    }
}
