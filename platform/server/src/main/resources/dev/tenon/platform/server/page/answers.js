// The answers that this tab makes: they go on whichever chat is shown, and are kept while they come.

import { events, send } from "./api.js";
import { hear, tell } from "./tabs.js";
import { choice, UNFINISHED } from "./tree.js";

const KEEP_MILLIS = 250;
const HEARD_WITHIN_MILLIS = 1000;
const ASK_AGAIN_MILLIS = 3000;

const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

export class Answers {
  /** @param onProgress called with a chat when more of an answer has come, or it has ended */
  constructor(chats, onProgress) {
    this.chats = chats;
    this.onProgress = onProgress;
    this.runs = new Map();
    this.heard = new Set();
    this.watched = new Set();
    chats.isOwn = (message) => this.runs.has(message.id);
    chats.listen(({ chat, removed }) => removed && this.of(chat).forEach((run) => run.abort.abort()));
    hear("who makes", (id) => this.runs.has(id) && tell("is made", id));
    hear("is made", (id) => this.heard.add(id));
    hear("stop", (id) => this.runs.get(id)?.abort.abort());
  }

  /** The answers of a chat that are being made here. */
  of(chat) {
    return [...this.runs.values()].filter((run) => run.chat === chat);
  }

  /** Stops an answer, also one that another tab makes. */
  stop(message) {
    this.runs.get(message.id)?.abort.abort();
    tell("stop", message.id);
  }

  /**
   * Makes an answer, or goes on with one.
   *
   * @param message where it is written
   * @param added the messages that are new with it
   * @param request the fields of the request
   */
  async make(chat, message, added, request) {
    const run = { chat, message, abort: new AbortController(), begun: performance.now(), first: 0, last: 0, deltas: 0, usage: null, timer: null };
    this.runs.set(message.id, run);
    ["error", "cut", "stopped"].forEach((name) => delete message[name]);
    message.running = true;
    await this.chats.save(chat, [...added, message], { updated: Date.now(), chosen: choice(...added, message) });
    let began = false;
    let reason = null;
    try {
      const answer = await send("/v1/chat/completions", { json: request, signal: run.abort.signal });
      began = true;
      for await (const event of events(answer)) {
        reason = this.event(run, event) || reason;
      }
      if (!reason) {
        throw new Error("The server ended it before it was complete.");
      }
      message.cut = reason === "length";
    } catch (error) {
      if (run.abort.signal.aborted) {
        message.stopped = true;
      } else {
        message.error = `${began ? "The answer broke off" : "There is no answer"}: ${error.message}`;
      }
    }
    this.measure(run);
    this.runs.delete(message.id);
    delete message.running;
    this.onProgress(chat);
    await this.keep(run);
  }

  /** Takes over what an event brings; returns why the answer has ended, once it has. */
  event(run, event) {
    const { message } = run;
    run.usage = event.usage || run.usage;
    const choice = event.choices?.[0];
    const delta = choice?.delta || {};
    if (delta.content || delta.reasoning_content) {
      run.last = performance.now();
      run.first ||= run.last;
      run.deltas++;
      message.text += delta.content || "";
      if (delta.reasoning_content) {
        message.reasoning = (message.reasoning || "") + delta.reasoning_content;
      }
      this.measure(run);
      this.onProgress(run.chat);
      run.timer ??= setTimeout(() => this.keep(run), KEEP_MILLIS);
    }
    return choice?.finish_reason;
  }

  keep(run) {
    clearTimeout(run.timer);
    run.timer = null;
    return this.chats.save(run.chat, [run.message]);
  }

  measure(run) {
    if (run.first) {
      const tokens = run.usage?.completion_tokens ?? run.deltas;
      const seconds = (run.last - run.first) / 1000;
      run.message.stats = {
        ttft: run.first - run.begun,
        rate: seconds > 0.02 && tokens > 1 ? (tokens - 1) / seconds : 0,
        tokens,
        ...(run.usage && { prompt: run.usage.prompt_tokens, cached: run.usage.prompt_tokens_details?.cached_tokens || 0 }),
      };
    }
  }

  /** Finds out, of answers that were not complete when they were kept, whether another tab still makes them. */
  watch(chat) {
    for (const message of chat.messages.filter((each) => each.running)) {
      if (!this.runs.has(message.id) && !this.watched.has(message.id)) {
        this.watched.add(message.id);
        this.follow(chat, message);
      }
    }
  }

  async follow(chat, message) {
    while (message.running && !this.runs.has(message.id)) {
      this.heard.delete(message.id);
      tell("who makes", message.id);
      await sleep(HEARD_WITHIN_MILLIS);
      if (this.heard.has(message.id)) {
        await sleep(ASK_AGAIN_MILLIS);
      } else if (message.running && !this.runs.has(message.id)) {
        delete message.running;
        message.error = UNFINISHED;
        await this.chats.save(chat, [message]);
      }
    }
    this.watched.delete(message.id);
  }
}
