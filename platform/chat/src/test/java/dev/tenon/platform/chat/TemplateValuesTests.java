package dev.tenon.platform.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class TemplateValuesTests {
    private static ChatTurn turn(String text, int pictures) {
        MediaPart picture = new MediaPart("image/png", ByteBuffer.allocate(1));
        return new ChatTurn(ChatTurn.USER, text, null, List.of(), null, null, Collections.nCopies(pictures, picture));
    }

    private static List<Object> contents(ChatTurn... turns) {
        return TemplateValues.turns(List.of(turns), CallIds.ANY).stream()
                .map(message -> message.get("content"))
                .toList();
    }

    @Test
    void aTurnHasAPlaceForEachOfItsPictures() {
        assertEquals(List.of("a\uFFFCb"), contents(turn("a\uFFFCb", 1)));
        assertEquals(List.of("\uFFFCab"), contents(turn("ab", 1)), "before the text");
        assertEquals(List.of("\uFFFCa\uFFFCb"), contents(turn("a\uFFFCb", 2)));
        assertEquals(List.of("a\uFFFCb", "c"), contents(turn("a\uFFFCb\uFFFC", 1), turn("c\uFFFC", 0)));
    }

    @Test
    void textsWithoutPicturesStayAsTheyAre() {
        assertEquals(List.of("a\uFFFC"), contents(turn("a\uFFFC", 0)));
    }
}
