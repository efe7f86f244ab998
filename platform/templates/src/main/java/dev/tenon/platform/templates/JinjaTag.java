package dev.tenon.platform.templates;

import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.tag.Tag;
import com.hubspot.jinjava.tree.TagNode;

/// A tag in the engine's tree with Jinja2's meaning. Has no state; safe for any thread.
abstract class JinjaTag implements Tag {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final String end;

    /// Makes a tag.
    ///
    /// @param name its name
    /// @param end name of its end tag, or null if it has no body
    JinjaTag(String name, String end) {
        this.name = name;
        this.end = end;
    }

    @Override
    public final String getName() {
        return name;
    }

    @Override
    public final String getEndTagName() {
        return end;
    }

    @Override
    public final String interpret(TagNode node, JinjavaInterpreter interpreter) {
        Frame frame = ((FrameInterpreter) interpreter).frame();
        render(node, frame.prepared.part(node.getHelpers()), frame);
        return "";
    }

    /// Parses what stands after the tag's name, once, when the template is compiled.
    ///
    /// @param text the text
    /// @param node the tag with its body
    /// @param compiler the compilation
    /// @return what [#render(TagNode, Object, Frame)] gets; never null
    abstract Object prepare(String text, TagNode node, TemplateCompiler compiler);

    /// Writes the tag's output to the frame.
    ///
    /// @param node the tag with its body
    /// @param part what [#prepare(String, TagNode, TemplateCompiler)] made
    /// @param frame the rendering
    abstract void render(TagNode node, Object part, Frame frame);

    /// Checks that nothing stands after a tag's name.
    ///
    /// @param text the text
    /// @return the text
    final String nothing(String text) {
        if (!text.isBlank()) {
            throw new TemplateFailure(
                    "the tag '" + name + "' takes nothing after its name, found '" + text.strip() + "'");
        }
        return text;
    }
}
