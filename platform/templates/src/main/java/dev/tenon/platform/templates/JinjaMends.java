package dev.tenon.platform.templates;

import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.LegacyOverrides;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.expression.ExpressionStrategy;
import com.hubspot.jinjava.tree.output.RenderedOutputNode;
import com.hubspot.jinjava.tree.parse.DefaultTokenScannerSymbols;
import com.hubspot.jinjava.tree.parse.ExpressionToken;

/// What is mended around the Jinja engine (Jinjava 2.8) so that chat templates come out as Python's Jinja2
/// renders them.
///
/// The engine cuts the template into nodes, matches tags with their ends, walks the tree, and cuts
/// expressions into
/// tokens. Around it:
///
/// | mend | where | why |
/// | --- | --- | --- |
/// | white space and line endings are settled before the engine reads the template | [SourceRewriter] |
/// the engine strips blanks before any tag, not only before the first of a line; it has no `+`; it does
/// not trim around expressions unless told |
/// | markers are characters that no text contains, expressions are numbers | [SourceRewriter] | a brace in
/// text, a string or a dictionary must never be taken for the end of an expression |
/// | output is never rendered again, never escaped | [#EXPRESSIONS] | the engine renders text from
/// messages as templates, which lets a user inject code |
/// | Python's grammar: `not a in b`, `a < b < c`, `x[::-1]`, `i+1`, `f(x)(y)`, `a if b`, string escapes |
/// [ExpressionParser] | the engine binds `not` tighter than comparisons, reads `+1` as a sign, has no
/// steps in slices and refuses unknown escapes |
/// | Python's values: `None` is not undefined, `'false'` is true, `1/2` is 0.5, integers stay integers,
/// text counts code points | [PyOps], [PyText] | the engine has one null for both, treats the text "false"
/// as false and follows Java's arithmetic |
/// | methods and attributes come from closed tables | [StringMethods], [CollectionMethods] | the engine
/// calls Java methods by reflection: `.strip()` works by luck, `.startswith()` does not, and `.getClass()`
/// must not |
/// | filters and tests written anew | [Filters], [TestFunctions], [PyJson] | `tojson` must be
/// `json.dumps`, `trim` Python's white space, `default` must tell None from undefined, `selectattr` takes
/// tests with arguments |
/// | tags written anew | [JinjaTags], [ForTag], [Macro] | the engine splits `set`, `for` and `macro` at
/// commas and equals signs inside strings; loops lack `previtem`, filters, `else` and scopes for each item
/// |
/// | only the tags of chat templates exist | [TemplateCompiler] | `include`, `import` and `extends` would
/// read resources |
/// | work, text and depth are counted | [Budget] | a template comes from a file that somebody else made |
/// | the context class loader is set while the engine starts | [#engine()] | the engine looks up its
/// expression builder by name there, which fails inside a bundle |
final class JinjaMends {
    /// Evaluates the expression that a number stands for and writes it to the frame.
    static final ExpressionStrategy EXPRESSIONS = new WriteExpression();

    private JinjaMends() {}

    /// {@return the engine, made on the first call; safe for any thread}
    static Jinjava engine() {
        return Engine.INSTANCE;
    }

    /// Makes the engine when it is first asked for.
    private static final class Engine {
        static final Jinjava INSTANCE = make();

        private static Jinjava make() {
            Thread thread = Thread.currentThread();
            ClassLoader before = thread.getContextClassLoader();
            thread.setContextClassLoader(Jinjava.class.getClassLoader());
            try {
                Jinjava engine = new Jinjava(JinjavaConfig.newBuilder()
                        .withTokenScannerSymbols(new Markers())
                        .withNestedInterpretationEnabled(false)
                        .withLegacyOverrides(LegacyOverrides.newBuilder()
                                .withParseWhitespaceControlStrictly(true)
                                .build())
                        .build());
                for (JinjaTag tag : JinjaTags.all()) {
                    engine.getGlobalContext().registerTag(tag);
                }
                return engine;
            } finally {
                thread.setContextClassLoader(before);
            }
        }
    }

    /// The rewritten template's markers.
    private static final class Markers extends DefaultTokenScannerSymbols {
        private static final long serialVersionUID = 1L;

        @Override
        public char getPrefixChar() {
            return SourceRewriter.OPEN;
        }

        @Override
        public char getPostfixChar() {
            return SourceRewriter.CLOSE;
        }
    }

    private static final class WriteExpression implements ExpressionStrategy {
        private static final long serialVersionUID = 1L;

        @Override
        public RenderedOutputNode interpretOutput(ExpressionToken token, JinjavaInterpreter interpreter) {
            Frame frame = ((FrameInterpreter) interpreter).frame();
            Object value = ((Eval) frame.prepared.part(token.getExpr())).eval(frame);
            return new RenderedOutputNode(PyText.str(frame, value));
        }
    }
}
