package org.example.replies;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.ReplyFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ActionsTests {
    @Test
    void aTemplateOfTheFamilyHasItsFormat() {
        ReplyFormat format = new Actions()
                .format("{% for c in m.tool_calls %}<|act|>{{ c.function.name }}<|with|>{% endfor %}")
                .orElseThrow();
        CallFormat.Wording wording = format.calls().wording();
        assertEquals(
                "<|act|>time<|with|>{}<|/act|>",
                wording.before() + wording.prefix() + "time" + wording.middle() + "{}" + wording.suffix()
                        + wording.after());
        assertEquals(List.of("<|act|>", "<|with|>", "<|/act|>"), format.calls().marks());
        assertEquals("<|muse|>", format.reasoning().open());
    }

    @Test
    void templatesOfOthersHaveNone() {
        assertEquals(Optional.empty(), new Actions().format("{% for m in messages %}<tool_call>{% endfor %}"));
    }
}
