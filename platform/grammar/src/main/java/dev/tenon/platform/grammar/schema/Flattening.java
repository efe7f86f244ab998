package dev.tenon.platform.grammar.schema;

import dev.tenon.platform.grammar.expr.GrammarException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Follows `$ref` and `allOf`: what a value must satisfy, as schemas with assertions only and
/// groups of alternatives. Refuses the keywords that cannot be enforced, and those that are
/// unknown.
final class Flattening {
    /// What is read elsewhere.
    private static final Set<String> ASSERTIONS = Set.of(
            "type",
            "const",
            "enum",
            "minimum",
            "exclusiveMinimum",
            "maximum",
            "exclusiveMaximum",
            "multipleOf",
            "pattern",
            "format",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "required",
            "properties",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "items",
            "prefixItems",
            "additionalItems");
    private static final Set<String> NOTES = Set.of(
            "title",
            "description",
            "default",
            "examples",
            "$comment",
            "deprecated",
            "readOnly",
            "writeOnly",
            "$schema",
            "$defs",
            "definitions",
            "$anchor",
            "contentMediaType",
            "contentEncoding",
            "contentSchema");

    private final SchemaNode root;
    private final boolean refStandsAlone;
    private final Map<String, SchemaNode> anchors = new HashMap<>();

    Flattening(SchemaNode root) {
        this.root = root;
        String draft = root.get("$schema") instanceof String text ? text : "";
        this.refStandsAlone = draft.matches(".*draft-0[3467].*");
        findAnchors(root);
    }

    /// {@return whether a keyword demands nothing of a value}
    static boolean isNote(String keyword) {
        return NOTES.contains(keyword) || keyword.startsWith("x-");
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
        /// Whether no value does.
        boolean impossible;

        Flat copy() {
            Flat copy = new Flat();
            copy.nodes.addAll(nodes);
            copy.groups.addAll(groups);
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
        add(flat, node, new ArrayList<>());
    }

    private void add(Flat flat, SchemaNode node, List<String> path) {
        if (node.value() instanceof Boolean b) {
            flat.impossible |= !b;
            return;
        }
        if (path.contains(node.pointer())) {
            throw node.unsupported("$ref", "The schema refers to itself without a value in between.");
        }
        path.add(node.pointer());
        if (node.has("$ref") && refStandsAlone) {
            add(flat, target(node), path);
        } else {
            addKeywords(flat, node, path);
        }
        path.removeLast();
    }

    private void addKeywords(Flat flat, SchemaNode node, List<String> path) {
        boolean asserts = false;
        for (String keyword : node.keywords()) {
            switch (keyword) {
                case "$ref" -> add(flat, target(node), path);
                case "allOf" -> node.list(keyword).forEach(each -> add(flat, each, path));
                case "anyOf" -> flat.groups.add(new Group(node, node.list(keyword), false));
                case "oneOf" -> flat.groups.add(new Group(node, node.list(keyword), true));
                case "not" -> {
                    SchemaNode not = node.child(keyword);
                    flat.impossible |= not.is(true) || not.value() instanceof Map<?, ?> map && map.isEmpty();
                    boolean types =
                            not.value() instanceof Map<?, ?> map && map.keySet().equals(Set.of("type"));
                    asserts |= types;
                    if (!types && !flat.impossible && !not.is(false)) {
                        throw node.unsupported(keyword, "Only 'type' can be excluded.");
                    }
                }
                case "uniqueItems" -> {
                    boolean few = node.has("maxItems") && node.count("maxItems") <= 1;
                    if (!Boolean.FALSE.equals(node.get(keyword)) && !few) {
                        throw node.unsupported(keyword, "Equal items cannot be excluded. Leave it out.");
                    }
                }
                case "$id" -> {
                    if (!node.pointer().isEmpty()) {
                        throw node.unsupported(keyword, "Schemas with an address of their own are not read.");
                    }
                }
                default -> {
                    asserts |= ASSERTIONS.contains(keyword);
                    if (!ASSERTIONS.contains(keyword) && !isNote(keyword)) {
                        throw node.unsupported(keyword, "It cannot be enforced. Leave it out.");
                    }
                }
            }
        }
        if (asserts && flat.nodes.stream().noneMatch(each -> each.pointer().equals(node.pointer()))) {
            flat.nodes.add(node);
        }
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
