package dev.tenon.platform.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Templates that want to hang, fill the memory or break out end with the typed error within seconds.
class HostileTemplateTests {
    private static final JinjaTemplateEngine ENGINE = new JinjaTemplateEngine();

    private static List<String> greedy() {
        String loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
                + "{% endfor %}{% endfor %}{% endfor %}";
        return List.of(
                "{% for i in range(10**9) %}x{% endfor %}",
                loops,
                loops.replace("{% endfor %}{% endfor %}{% endfor %}", "x{% endfor %}{% endfor %}{% endfor %}"),
                "{{ 'a' * 10**9 }}",
                "{{ 'aaaaaaaaaaaaaaaa' * 10**18 }}",
                "{{ [0] * 10**9 }}",
                "{{ [[0]] * 10**18 }}",
                "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(99) %}"
                        + "{% set ns.s = ns.s + ns.s %}{% endfor %}",
                "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(99) %}"
                        + "{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
                "{% set ns = namespace(s=[1,2,3]) %}{% for i in range(99) %}"
                        + "{% set ns.s = ns.s + ns.s %}{% endfor %}",
                "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}"
                        + "{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
                "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}"
                        + "{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s | tojson }}",
                "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}"
                        + "{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s == ns.s[:] + [] }}",
                "{% set ns = namespace(s=(1,)) %}{% for i in range(99) %}"
                        + "{% set ns.s = (ns.s, ns.s) %}{% endfor %}{{ {ns.s: 1}[ns.s] }}",
                "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
                "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns.x | string }}",
                "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                "{% macro m(x) %}{{ m(x ~ 'a') }}{{ m(x ~ 'b') }}{% endmacro %}{{ m('') }}",
                "{% macro a() %}{% call a() %}{% endcall %}{% endmacro %}{{ a() }}",
                "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
                "{{ 'a' * 8000000 }}{{ 'a' * 8000000 }}",
                "{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
                "{{ ('a' * 8000000).replace('a', 'bbbbbbbbbb') }}",
                "{{ ('a' * 4000000).replace('', 'bbbbbbbbbb') }}",
                "{{ (['aaaaaaaaaaaaaaaaaaaaaaaaa'] * 100000) | join('b' * 100) }}",
                "{{ ('a\n' * 4000000) | indent(1000) }}",
                "{{ '%999999999d' % 1 }}",
                "{{ '5'.zfill(2000000000) }}",
                "{{ 10 ** 10 ** 10 }}",
                "{{ 9223372036854775807 + 1 }}",
                "{{ 99999999999999999999999999999999 }}",
                "{% set s = 'ab' * 4000000 %}{% for i in range(99999) %}{{ s[::-1] | length }}{% endfor %}",
                "{% set s = 'ab' * 4000000 %}{% for i in range(99999) %}"
                        + "{{ 'ba' * 3 in s }}{{ s.count('a') }}{% endfor %}",
                "{{ messages | map('map', 'map') | map('map', 'list') | map('list') | list }}",
                "{{ " + "(".repeat(5000) + "1" + ")".repeat(5000) + " }}",
                "{{ " + "[".repeat(5000) + "]".repeat(5000) + " }}",
                "{{ " + "-".repeat(5000) + "1 }}",
                "{{ " + "not ".repeat(50001) + "1 }}{{ 1/0 }}",
                "{{ 1" + " if 1 else 1".repeat(5000) + " }}",
                "{% if 1 %}".repeat(20000) + "{% endif %}".repeat(20000),
                "{{ 1" + "+1".repeat(100000) + " }}{{ 1/0 }}",
                "{{ x" + "|trim".repeat(100000) + " }}{{ 1/0 }}",
                "{% do 1 %}".repeat(100_000) + "{{ 1/0 }}",
                "x".repeat(2 << 20));
    }

    @ParameterizedTest
    @MethodSource("greedy")
    void greedyTemplatesEndWithATypedErrorWithinSeconds(String source) {
        ModelFormatException e = assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertThrows(
                        ModelFormatException.class,
                        () -> ENGINE.compile(source).render(Map.of("messages", List.of("a", "b"), "x", "y"))));
        assertEquals(ErrorCode.MODEL_TEMPLATE, e.code());
    }

    @Test
    void javaIsOutOfReach() {
        Map<String, Object> variables = Map.of("s", "text", "l", new ArrayList<>(List.of("a")), "d", Map.of("k", 1));
        for (String path : List.of(
                "class",
                "getClass()",
                "__class__",
                "__class__.__mro__",
                "bytes",
                "getBytes()",
                "chars()",
                "empty",
                "isEmpty()",
                "stream()",
                "hashCode()",
                "toString()",
                "forEach(s)",
                "__init__.__globals__",
                "self")) {
            for (String base :
                    List.of("s", "l", "d", "loop", "range", "namespace()", "1", "true", "none", "undefined")) {
                String expression = base + "." + path;
                boolean call = path.endsWith(")") || path.contains("__.");
                String source = "{{ " + expression + " }}{{ " + (call ? "''" : expression + ".x") + " }}";
                assertThrows(
                        ModelFormatException.class, () -> ENGINE.compile(source).render(variables), expression);
            }
        }
        for (String name : List.of(
                "____int3rpr3t3r____",
                "filter",
                "exptest",
                "type",
                "today",
                "unixtimestamp",
                "super",
                "context",
                "this")) {
            assertEquals("", ENGINE.compile("{{ " + name + " }}").render(variables), name);
        }
    }

    @Test
    void tagsThatReadResourcesDoNotExist() {
        for (String tag : List.of(
                "include 'a'",
                "import 'a' as b",
                "from 'a' import b",
                "extends 'a'",
                "autoescape true",
                "ifchanged x",
                "cycle 'a'",
                "unless x")) {
            assertThrows(ModelFormatException.class, () -> ENGINE.compile("{% " + tag + " %}"), tag);
        }
        for (String filter : List.of("render", "fromjson", "log", "root", "ipaddr", "fromyaml")) {
            assertThrows(ModelFormatException.class, () -> ENGINE.compile("{{ 'x'|" + filter + " }}"), filter);
        }
    }
}
