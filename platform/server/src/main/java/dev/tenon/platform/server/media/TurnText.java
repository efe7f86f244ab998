package dev.tenon.platform.server.media;

import dev.tenon.api.chat.ChatException;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.MediaPrompts;
import java.util.ArrayList;
import java.util.List;

/// The text of a turn, or of a prompt, with a [place][MediaPart#PLACE] for each of its pictures and sounds. Places that
/// clients write themselves are dropped from texts that have some. For one thread.
public final class TurnText {
    private static final String PLACE = String.valueOf(MediaPart.PLACE);

    private final StringBuilder plain = new StringBuilder();
    private final StringBuilder places = new StringBuilder();
    private final List<MediaPart> media = new ArrayList<>();
    private boolean afterText;

    /// Adds what a client wrote.
    ///
    /// @param text the text
    /// @param separator what stands between it and a text right before it
    public void add(String text, String separator) {
        String between = afterText && !plain.isEmpty() ? separator : "";
        plain.append(between).append(text);
        places.append(between).append(text.replace(PLACE, ""));
        afterText = true;
    }

    /// Adds a picture or sound.
    ///
    /// @param part what it is
    public void add(MediaPart part) {
        places.append(MediaPart.PLACE);
        media.add(part);
        afterText = false;
    }

    /// {@return the text}
    public String text() {
        return (media.isEmpty() ? plain : places).toString();
    }

    /// {@return the pictures and sounds, in the order of their places}
    public List<MediaPart> media() {
        return media;
    }

    /// {@return it as a prompt without a template, in which control tokens are meant as such}
    ///
    /// @param model the model
    /// @param field what the request calls it
    /// @throws RequestException (400) if the model does not take its pictures and sounds, or they are not read
    public MediaPrompts.Encoded encode(LoadedModel model, String field) {
        try {
            return MediaPrompts.encode(model, text(), true, media);
        } catch (ChatException e) {
            throw RequestException.invalid(field, e.getMessage()).because(e);
        }
    }

    /// {@return a turn of it}
    ///
    /// @param role whose
    /// @param callId id of the call whose result it is, or null
    public ChatTurn turn(String role, String callId) {
        return new ChatTurn(role, text(), null, List.of(), callId, null, media);
    }
}
