package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.GrammarException;
import dev.tenon.platform.grammar.expr.GrammarLimits;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Follows `$ref` and `allOf`: what a value must satisfy, as schemas with assertions only and
/// groups of alternatives. Refuses the keywords that cannot be enforced.
final class Flattening {
    private final SchemaNode root;
    private final GrammarLimits limits;
    private final boolean refStandsAlone;
    private final Map<String, SchemaNode> anchors = new HashMap<>();

    Flattening(SchemaNode root, GrammarLimits limits) {
        this.root = root;
        this.limits = limits;
        String draft = root.get("$schema") instanceof String text ? text : "";
        this.refStandsAlone = draft.matches(".*draft-0[3467].*");
        findAnchors(root);
    }

    private void findAnchors(SchemaNode node) {
        if (node.value() instanceof Map<?, ?>) {
            if (node.get("$anchor") instanceof String anchor) {
                anchors.put(anchor, node);
            }
            for (String key : node.keywords()) {
                if (!Set.of("enum", "const", "default", "examples").contains(key)) {
                    findAnchors(new SchemaNode(
                            node.get(key),
                            node.pointer() + "/" + key.replace("~", "~0").replace("/", "~1")));
                }
            }
        } else if (node.value() instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                findAnchors(new SchemaNode(list.get(i), node.pointer() + "/" + i));
            }
        }
    }

    /// Alternatives, of which a value satisfies at least one, or exactly one.
    ///
    /// @param owner the schema that has them
    /// @param branches the alternatives
    /// @param one whether exactly one
    record Group(SchemaNode owner, List<SchemaNode> branches, boolean one) {}

    /// What a value must satisfy.
    static final class Flat {
        final List<SchemaNode> nodes = new ArrayList<>();
        final List<Group> groups = new ArrayList<>();
        /// Where the schemas are that it has.
        final Set<String> places = new HashSet<>();
        /// Whether no value does.
        boolean impossible;

        Flat copy() {
            Flat copy = new Flat();
            copy.nodes.addAll(nodes);
            copy.groups.addAll(groups);
            copy.places.addAll(places);
            copy.impossible = impossible;
            return copy;
        }
    }

    Flat flatten(List<SchemaNode> nodes) {
        Flat flat = new Flat();
        nodes.forEach(node -> add(flat, node));
        return flat;
    }

    void add(Flat flat, SchemaNode node) {
        add(flat, node, new HashSet<>());
    }

    private void add(Flat flat, SchemaNode node, Set<String> path) {
        if (node.value() instanceof Boolean b) {
            flat.impossible |= !b;
            return;
        }
        if (!path.add(node.pointer())) {
            throw node.unsupported("$ref", "The schema refers to itself without a value in between.");
        }
        limits.checkNesting("schema, with what it refers to,", path.size());
        if (!flat.places.add(node.pointer())) {
            path.remove(node.pointer());
            return;
        }
        if (node.has("$ref") && refStandsAlone) {
            add(flat, target(node), path);
        } else {
            addKeywords(flat, node, path);
        }
        path.remove(node.pointer());
    }

    private void addKeywords(Flat flat, SchemaNode node, Set<String> path) {
        boolean asserts = false;
        for (String keyword : node.keywords()) {
            switch (keyword) {
                case "$ref" -> add(flat, target(node), path);
                case "allOf" -> node.list(keyword).forEach(each -> add(flat, each, path));
                case "anyOf" -> flat.groups.add(new Group(node, node.list(keyword), false));
                case "oneOf" -> flat.groups.add(new Group(node, node.list(keyword), true));
                case "not" -> asserts |= exclude(flat, node, node.child(keyword));
                case "if" -> addCondition(flat, node);
                case "then", "else" -> {} // of an `if`
                case "dependencies", "dependentRequired", "dependentSchemas" -> addDependencies(flat, node, keyword);
                case "$id" -> {
                    if (!node.pointer().isEmpty()) {
                        throw node.unsupported(keyword, "Schemas with an address of their own are not read.");
                    }
                }
                default -> {
                    asserts |= Keywords.ASSERTIONS.contains(keyword);
                    if (!Keywords.ASSERTIONS.contains(keyword) && !Keywords.isNote(keyword)) {
                        throw node.unsupported(keyword, "It cannot be enforced. Leave it out.");
                    }
                }
            }
        }
        if (asserts) {
            flat.nodes.add(node);
        }
    }

    /// Demands that a value does not satisfy a schema.
    ///
    /// @return whether that is read with the assertions
    private boolean exclude(Flat flat, SchemaNode node, SchemaNode not) {
        requireExcludable(node, "not");
        flat.impossible |= not.is(true);
        if (not.value() instanceof Boolean || Negation.isBasic(not)) {
            return !(not.value() instanceof Boolean);
        }
        flat.groups.add(new Group(node, Negation.of(not, not.has("$ref") ? target(not) : null), false));
        return false;
    }

    private void requireExcludable(SchemaNode node, String keyword) {
        SchemaNode excluded = node.child(keyword);
        if (!Negation.isPossible(excluded) || excluded.has("$ref") && refStandsAlone) {
            throw node.unsupported(
                    keyword, "Whether it holds is only known of types, values, bounds and required properties.");
        }
    }

    /// Either the condition holds and the first schema, or the condition does not and the second.
    private void addCondition(Flat flat, SchemaNode node) {
        Object condition = node.child("if").schema();
        Object then = node.has("then") ? node.child("then").schema() : true;
        Object otherwise = node.has("else") ? node.child("else").schema() : true;
        if (then.equals(true) && otherwise.equals(true)) {
            return;
        }
        requireExcludable(node, "if");
        flat.groups.add(new Group(
                node,
                List.of(
                        node.made(Map.of("allOf", List.of(condition, then)), "if", "then"),
                        node.made(Map.of("allOf", List.of(Map.of("not", condition), otherwise)), "if", "else")),
                false));
    }

    /// Each of the properties is not there, or what it needs holds.
    private void addDependencies(Flat flat, SchemaNode node, String keyword) {
        node.named(keyword).forEach((name, needed) -> {
            SchemaNode holds = needed.value() instanceof List<?> names
                    ? node.made(Map.of("required", names), keyword, name, "required")
                    : needed;
            SchemaNode absent = node.made(Map.of("properties", Map.of(name, false)), keyword, name, "absent");
            flat.groups.add(new Group(node, List.of(absent, holds), false));
        });
    }

    private SchemaNode target(SchemaNode node) {
        String ref = node.string("$ref");
        String address = root.get("$id") instanceof String id ? id.replaceFirst("#$", "") : "";
        String local = !address.isEmpty() && ref.startsWith(address) ? ref.substring(address.length()) : ref;
        if (local.isEmpty() || local.equals("#")) {
            return root;
        }
        if (!local.startsWith("#")) {
            throw node.unsupported("$ref", "'" + ref + "' is not within this schema.");
        }
        SchemaNode target = local.startsWith("#/") ? resolve(local.substring(2)) : anchors.get(local.substring(1));
        if (target == null) {
            throw node.bad("$ref", "'" + ref + "' is not in this schema");
        }
        return target;
    }

    private SchemaNode resolve(String path) {
        Object value = root.value();
        for (String each : path.split("/", -1)) {
            String key;
            try {
                key = URLDecoder.decode(each.replace("+", "%2B"), StandardCharsets.UTF_8)
                        .replace("~1", "/")
                        .replace("~0", "~");
            } catch (IllegalArgumentException e) {
                throw GrammarException.syntax("The reference '#/" + path + "' has a broken '%' escape.");
            }
            if (value instanceof Map<?, ?> map && map.containsKey(key)) {
                value = map.get(key);
            } else if (value instanceof List<?> list
                    && key.matches("\\d{1,6}")
                    && Integer.parseInt(key) < list.size()) {
                value = list.get(Integer.parseInt(key));
            } else {
                return null;
            }
            if (value instanceof Map<?, ?> map && map.get("$id") instanceof String) {
                throw GrammarException.unsupported(
                        "The reference '#/" + path + "' leads into a schema with an address of its own.");
            }
        }
        return new SchemaNode(value, "/" + path);
    }
}
