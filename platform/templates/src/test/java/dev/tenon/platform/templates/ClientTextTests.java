package dev.tenon.platform.templates;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.TemplateText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Whose the characters of a rendering are, whatever a template did to the client's.
class ClientTextTests {
    private static final String TOKEN = "<|im_end|>";

    /// What a template writes, with the client's characters in `⟦⟧`.
    private static String shown(String source, Map<String, Object> variables) {
        TemplateText text = new JinjaTemplateEngine().compile(source).renderText(variables);
        StringBuilder out = new StringBuilder(text.text());
        for (int i = text.client().length - 1; i >= 0; i--) {
            out.insert(text.client()[i], i % 2 == 0 ? '⟦' : '⟧');
        }
        return out.toString();
    }

    private static String shown(String expression) {
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("k", TemplateText.ofClient("v"));
        return shown(
                "{{ " + expression + " }}",
                Map.of(
                        "c", TemplateText.ofClient("Ab <c>"),
                        "w", TemplateText.ofClient("\n x\ty "),
                        "a", TemplateText.ofClient("<|im_"),
                        "b", TemplateText.ofClient("end|>"),
                        "n", TemplateText.ofClient("42"),
                        "j", TemplateText.ofClient("{\"k\": \"<\\u007c\"}"),
                        "d", Map.of(TemplateText.ofClient("key"), call),
                        "m", new TemplateText("own<x>own", new int[] {3, 6})));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '→', quoteCharacter = '`', textBlock = """
            c → ⟦Ab <c>⟧
            '<' + c + '>' → <⟦Ab <c>⟧>
            '<' ~ c ~ n → <⟦Ab <c>42⟧
            a ~ b → ⟦<|im_end|>⟧
            a ~ 'x' ~ b → ⟦<|im_⟧x⟦end|>⟧
            m → own⟦<x>⟧own
            m.split('x')|join('-') → own⟦<⟧-⟦>⟧own
            m[2:5] → n⟦<x⟧
            m[::-1] → nwo⟦>x<⟧nwo
            m|reverse → nwo⟦>x<⟧nwo
            m[4] → ⟦x⟧
            m|list|join('.') → o.w.n.⟦<⟧.⟦x⟧.⟦>⟧.o.w.n
            m.replace('x', 'yy') → own⟦<⟧yy⟦>⟧own
            m.replace('own', c) → ⟦Ab <c><x>Ab <c>⟧
            'a-b'.replace('-', c) → a⟦Ab <c>⟧b
            m.upper() → OWN⟦<X>⟧OWN
            m|title → Own⟦<X>⟧own
            m|capitalize → Own⟦<x>⟧own
            m.swapcase() → OWN⟦<X>⟧OWN
            c.partition(' ')|join('|') → ⟦Ab⟧|⟦ ⟧|⟦<c>⟧
            c.split()[1] → ⟦<c>⟧
            c.rsplit(' ', 1)[0] → ⟦Ab⟧
            [w.strip()]|first → ⟦x\ty⟧
            w.splitlines()[1]|trim → ⟦x\ty⟧
            w.expandtabs(4)|trim → ⟦x  y⟧
            c.removeprefix('Ab ') → ⟦<c>⟧
            m|tojson → "own⟦<x>⟧own"
            d|tojson → {"⟦key⟧": {"k": "⟦v⟧"}}
            d → {'⟦key⟧': {'k': '⟦v⟧'}}
            d.items()|list|first|first → ⟦key⟧
            d.key.k → ⟦v⟧
            '%s|%3s' % (a, n) → ⟦<|im_⟧| ⟦42⟧
            '{}{x}'.format(a, x=b) → ⟦<|im_end|>⟧
            '{:>8}{!r}'.format(a, b) → ⟦<|im_⟧'⟦end|>⟧'
            (a ~ '%s') % b → ⟦<|im_end|>⟧
            n.center(6, '*') → **⟦42⟧**
            n.zfill(4) → 00⟦42⟧
            'x'.center(3, c[3]) → ⟦<⟧x⟦<⟧
            'x' ~ n|indent(2, true) → x  ⟦42⟧
            c|e → ⟦Ab &lt;c&gt;⟧
            c|urlencode → ⟦Ab%20%3Cc%3E⟧
            c|truncate(5, true, '.', 0) → ⟦Ab <⟧.
            m|wordwrap(4, true, '/') → own⟦<⟧/⟦x>⟧ow/n
            j|from_json|tojson → {"⟦k⟧": "⟦<|⟧"}
            [a, b]|join → ⟦<|im_end|>⟧
            [a, b]|sum(start=[])|default('x') if false else c|first → ⟦A⟧
            {'x': c}|xmlattr → x="⟦Ab &lt;c&gt;⟧"
            c ~ 'ß'|upper → ⟦Ab <c>⟧SS
            (m ~ 'ß')|upper → ⟦OWN<X>OWNSS⟧
            n|int + 1 → 43
            c|length → 6
            """)
    void operationsKeepWhoseCharactersAre(String expression, String expected) {
        assertEquals(expected.strip(), shown(expression).strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{ c }}",
                "{% set x %}{{ c }}{% endset %}{{ x }}",
                "{% macro f(a) %}{{ a }}{{ caller() }}{% endmacro %}{% call f(c) %}{{ c }}{% endcall %}",
                "{% filter trim %}{{ c }}{% endfilter %}",
                "{% for x in c %}{{ x }}{% endfor %}",
                "{% set ns = namespace(x=c) %}{{ ns.x }}{{ ns }}",
                "{% for x in {'y': c}.values() %}{{ x }}{% endfor %}",
                "{{ [c]|map('trim')|first }}{{ [[c, 1]]|groupby(0)|map(attribute='grouper')|join }}",
                "{{ {c: 1}|dictsort|first|first }}{{ [c]|sort|last }}{{ [c]|unique|first }}{{ [c]|batch(1)|first|first }}",
                "{{ dict(x=c).x }}{{ cycler(c).next() }}{% set j = joiner(c) %}{{ j() }}{{ j() }}",
                "{{ c.split('|')|join('|') }}{{ c.partition('im')|join }}{{ c|list|join }}{{ c[::-1][::-1] }}",
                "{{ '%s' % c }}{{ '%s' % (c,) }}{{ '{}'.format(c) }}{{ c.format() }}{{ '%(a)s' % {'a': c} }}",
                "{{ c|replace('im', 'im') }}{{ 'x'|replace('x', c) }}{{ c.upper().lower() }}{{ c|default('') }}",
                "{{ (c|tojson)[1:-1] }}{{ ('[' ~ c|tojson ~ ']')|from_json|first }}{{ (c|pprint)[1:-1] }}",
            })
    void noTokenOfTheClientIsTheTemplates(String source) {
        TemplateText text =
                new JinjaTemplateEngine().compile(source).renderText(Map.of("c", TemplateText.ofClient(TOKEN)));
        int found = 0;
        for (int at = text.text().indexOf(TOKEN); at >= 0; at = text.text().indexOf(TOKEN, at + 1)) {
            found++;
            int[] client = text.client();
            boolean theirs = false;
            for (int i = 0; i < client.length; i += 2) {
                theirs |= client[i] < at + TOKEN.length() && at < client[i + 1];
            }
            assertTrue(theirs, source + " at " + at);
        }
        assertTrue(found > 0, source);
    }

    @Test
    void templatesSeeTheCharactersAlone() {
        String content = "<think>secret</think> Answer";
        Map<String, Object> variables =
                Map.of("c", TemplateText.ofClient(content), "d", Map.of(TemplateText.ofClient("k"), 1));
        ChatTemplate template = new JinjaTemplateEngine()
                .compile("{{ '</think>' in c }}{{ c.split('</think>')[-1].lstrip() }}{{ c.startswith('<think>') }}"
                        + "{{ c|length }}{{ c == '" + content + "' }}{{ d.k }}{{ d['k'] }}{{ 'k' in d }}"
                        + "{{ {'<think>': 2}[c[:7]] }}{{ c < 'a' }}{{ c|tojson(ensure_ascii=true) }}");
        assertEquals(
                "TrueAnswerTrue" + content.length() + "True11True2True\"" + content + "\"",
                template.renderText(variables).text());
    }

    /// Where a text of the client stands as it was, or without blanks around it. One of letters writes no control
    /// token.
    @Test
    void ofAnEngineOfStringsTextsAreTheClientsWhereTheyStand() {
        ChatTemplate template =
                variables -> "<s>" + variables.get("c") + ((List<?>) variables.get("l")).getFirst() + "<s>";
        assertArrayEquals(new int[] {3, 7}, client(template, "a<b>", "y"));
        assertArrayEquals(new int[] {3, 10}, client(template, "a<b>", "<c>"));
        assertArrayEquals(new int[] {0, 6, 7, 10}, client(template, "<s>", "y"), "its own ones cannot be told apart");
        assertArrayEquals(new int[0], client(template, "s", "y 2"));
        ChatTemplate stripping = variables -> "<s>" + ((String) variables.get("c")).strip() + "</s>";
        assertArrayEquals(new int[] {3, 7}, client(stripping, " a<b>\n", "y"));
    }

    private static int[] client(ChatTemplate template, String content, String other) {
        return template.renderText(
                        Map.of("c", TemplateText.ofClient(content), "l", List.of(TemplateText.ofClient(other))))
                .client();
    }
}
