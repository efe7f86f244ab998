// Asks a server by the clients that people use; prints "ok NAME" for each thing that works.
// Arguments: address of the server. It runs a model of stories that is loaded with embeddings, and takes the key "key".
// It has an empty folder of models.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText, streamText } from 'ai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';

const address = process.argv[2];
const baseURL = address + '/v1';
const apiKey = 'key';
const model = 'story';
const messages = [{ role: 'user', content: 'A tale of a fox.' }];
const tools = [{ type: 'function', function: { name: 'time', parameters: { type: 'object', properties: {} } } }];
let failed = false;

async function check(name, test) {
  try {
    await test();
    console.log('ok ' + name);
  } catch (e) {
    failed = true;
    console.log('FAILED ' + name + ': ' + (e.stack ?? e));
  }
}

const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const body = { model, messages, max_tokens: 8, temperature: 0 };

await check('openai chat', async () => {
  const answer = await openai.chat.completions.create({ ...body, logprobs: true, top_logprobs: 2, n: 2 });
  assert.equal(answer.choices.length, 2);
  assert.ok(answer.choices[0].message.content.length > 0);
  assert.equal(answer.choices[0].logprobs.content[0].top_logprobs.length, 2);
  assert.equal(answer.usage.completion_tokens, 16);
});

await check('openai stream', async () => {
  const plain = await openai.chat.completions.create(body);
  const stream = await openai.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } });
  let text = '';
  let usage;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? '';
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, plain.choices[0].message.content);
  assert.equal(usage.completion_tokens, 8);
});

await check('openai stream helper', async () => {
  const runner = openai.chat.completions.stream({ ...body, tools });
  const answer = await runner.finalChatCompletion();
  assert.equal(answer.choices[0].message.role, 'assistant');
});

await check('openai completions', async () => {
  const answer = await openai.completions.create({ model, prompt: 'Once upon a', max_tokens: 3, temperature: 0 });
  assert.match(answer.choices[0].text, /^ time/);
});

await check('openai embeddings', async () => {
  const answer = await openai.embeddings.create({ model, input: ['a fox', 'the sea'] });
  assert.equal(answer.data.length, 2);
  assert.equal(answer.data[1].embedding.length, 512);
  assert.ok(answer.data[1].embedding.every(Number.isFinite));
});

await check('openai responses', async () => {
  const answer = await openai.responses.create({ model, input: 'A tale of a fox.', max_output_tokens: 8, temperature: 0 });
  assert.ok(answer.output_text.length > 0);
  const stream = openai.responses.stream({ model, input: 'A tale of a fox.', max_output_tokens: 8, temperature: 0 });
  assert.equal((await stream.finalResponse()).output_text, answer.output_text);
});

await check('openai models', async () => {
  const ids = [];
  for await (const each of openai.models.list()) ids.push(each.id);
  assert.deepEqual(ids, [model]);
  assert.equal((await openai.models.retrieve(model)).id, model);
});

await check('openai errors', async () => {
  await assert.rejects(openai.chat.completions.create({ ...body, model: 'other' }), OpenAI.NotFoundError);
  await assert.rejects(openai.chat.completions.create({ ...body, n: 1000 }), (e) => e.status === 400 && e.param === 'n');
  const stranger = new OpenAI({ baseURL, apiKey: 'wrong', maxRetries: 0 });
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
});

await check('openai refusals are not repeated', async () => {
  let requests = 0;
  const counted = new OpenAI({ baseURL, apiKey, fetch: (...all) => { requests++; return fetch(...all); } });
  await assert.rejects(counted.completions.create({ model, prompt: 'a', suffix: 'b' }), (e) => e.status === 501);
  assert.equal(requests, 1);
});

const person = {
  type: 'object',
  properties: { name: { type: 'string', maxLength: 12 }, age: { type: 'integer', minimum: 0, maximum: 120 } },
  required: ['name', 'age'],
  additionalProperties: false,
};

function isPerson(text) {
  const { name, age, ...others } = JSON.parse(text);
  assert.ok(typeof name === 'string' && name.length <= 12 && Number.isInteger(age) && age >= 0 && age <= 120, text);
  assert.deepEqual(others, {});
}

await check('openai schema', async () => {
  const asked = { model, messages, response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } } };
  isPerson((await openai.chat.completions.create(asked)).choices[0].message.content);
  isPerson((await openai.chat.completions.stream(asked).finalChatCompletion()).choices[0].message.content);
  isPerson((await openai.responses.create({
    model, input: 'A tale.', text: { format: { type: 'json_schema', name: 'person', strict: true, schema: person } },
  })).output_text);
});

await check('openai named tool', async () => {
  const offered = [...tools, { type: 'function', function: { name: 'note', parameters: person } }];
  const asked = { model, messages, tools: offered, tool_choice: { type: 'function', function: { name: 'note' } } };
  for (const answer of [await openai.chat.completions.create(asked), await openai.chat.completions.stream(asked).finalChatCompletion()]) {
    const calls = answer.choices[0].message.tool_calls;
    assert.deepEqual(calls.map((call) => call.function.name), ['note']);
    isPerson(calls[0].function.arguments);
  }
});

await check('openai abort', async () => {
  const stream = await openai.chat.completions.create({ ...body, max_tokens: 400, ignore_eos: true, stream: true });
  for await (const chunk of stream) {
    if (chunk.choices[0].delta.content) break;
  }
  stream.controller.abort();
});

const provider = createOpenAICompatible({ name: 'tenon', baseURL, apiKey, includeUsage: true });

await check('ai text', async () => {
  const answer = await generateText({ model: provider(model), prompt: 'A tale of a fox.', maxOutputTokens: 8, maxRetries: 0 });
  assert.ok(answer.text.length > 0);
  assert.equal(answer.finishReason, 'length');
});

await check('ai stream', async () => {
  const stream = streamText({ model: provider(model), prompt: 'A tale of a fox.', maxOutputTokens: 8, maxRetries: 0 });
  let text = '';
  for await (const part of stream.textStream) text += part;
  assert.ok(text.length > 0);
  assert.equal((await stream.usage).outputTokens, 8);
});

await check('ai embedding', async () => {
  const answer = await embed({ model: provider.embeddingModel(model), value: 'a fox' });
  assert.equal(answer.embedding.length, 512);
});

const langchain = new ChatOpenAI({ model, apiKey, temperature: 0, maxTokens: 8, maxRetries: 0, configuration: { baseURL } });

await check('langchain chat', async () => {
  const answer = await langchain.invoke('A tale of a fox.');
  assert.ok(answer.content.length > 0);
  assert.equal(answer.usage_metadata.output_tokens, 8);
});

await check('langchain stream', async () => {
  let text = '';
  for await (const chunk of await langchain.stream('A tale of a fox.')) text += chunk.content;
  assert.ok(text.length > 0);
});

await check('langchain embeddings', async () => {
  const vectors = await new OpenAIEmbeddings({ model, apiKey, maxRetries: 0, configuration: { baseURL } }).embedDocuments(['a', 'b']);
  assert.equal(vectors[1].length, 512);
});

const anthropic = new Anthropic({ baseURL: address, apiKey, maxRetries: 0 });

await check('anthropic messages', async () => {
  const answer = await anthropic.messages.create({ model, messages, max_tokens: 8, temperature: 0 });
  assert.equal(answer.content[0].type, 'text');
  const stream = anthropic.messages.stream({ model, messages, max_tokens: 8, temperature: 0 });
  assert.equal(await stream.finalText(), answer.content[0].text);
  const count = await anthropic.messages.countTokens({ model, messages });
  assert.ok(count.input_tokens > 5);
  await assert.rejects(anthropic.messages.create({ model: 'other', messages, max_tokens: 8 }), Anthropic.NotFoundError);
});

await check('anthropic schema and named tool', async () => {
  const asked = { model, messages, max_tokens: 400 };
  const json = await anthropic.messages.create({ ...asked, output_config: { format: { type: 'json_schema', schema: person } } });
  isPerson(json.content[0].text);
  const named = { ...asked, tools: [{ name: 'note', input_schema: person }], tool_choice: { type: 'tool', name: 'note' } };
  for (const answer of [await anthropic.messages.create(named), await anthropic.messages.stream(named).finalMessage()]) {
    assert.equal(answer.stop_reason, 'tool_use');
    isPerson(JSON.stringify(answer.content.find((block) => block.type === 'tool_use').input));
  }
});

const ollama = new Ollama({ host: address, headers: { Authorization: 'Bearer ' + apiKey } });
const greedy = { num_predict: 8, temperature: 0 };

await check('ollama chat', async () => {
  const answer = await ollama.chat({ model, messages, options: greedy, logprobs: true, top_logprobs: 2 });
  assert.equal(answer.eval_count, 8);
  assert.equal(answer.done_reason, 'length');
  assert.equal(answer.logprobs.length, 8);
  let text = '';
  let last;
  for await (const part of await ollama.chat({ model, messages, tools, options: greedy, stream: true })) {
    text += part.message.content;
    last = part;
  }
  assert.equal(text, answer.message.content);
  assert.ok(last.done && last.eval_duration > 1000);
});

await check('ollama generate', async () => {
  const answer = await ollama.generate({ model, prompt: 'Once upon a', raw: true, options: greedy });
  assert.match(answer.response, /^ time/);
  const format = { type: 'object', properties: { n: { type: 'boolean' } }, required: ['n'], additionalProperties: false };
  const json = await ollama.generate({ model, prompt: 'Is it?', format });
  assert.equal(typeof JSON.parse(json.response).n, 'boolean');
  await assert.rejects(ollama.generate({ model, prompt: 'x', template: '{{ .Prompt }}' }), /template/);
});

await check('ollama embed', async () => {
  const answer = await ollama.embed({ model, input: ['a', 'b'] });
  assert.equal(answer.embeddings[1].length, 512);
});

await check('ollama models', async () => {
  const steps = [];
  for await (const part of await ollama.create({
    model: 'bard', from: model, system: 'Speak of ships.', parameters: { num_predict: 2 }, stream: true,
  })) steps.push(part.status);
  assert.equal(steps.at(-1), 'success');
  await ollama.copy({ source: 'bard', destination: 'skald' });
  const names = (await ollama.list()).models.map(each => each.name);
  assert.deepEqual(names, [model, 'bard', 'skald']);
  const show = await ollama.show({ model: 'skald' });
  assert.equal(show.system, 'Speak of ships.');
  assert.equal((await ollama.chat({ model: 'skald', messages, keep_alive: '10m' })).eval_count, 2);
  const running = (await ollama.ps()).models.map(each => each.name);
  assert.deepEqual(running, [model, 'skald']);
  await ollama.delete({ model: 'bard' });
  await ollama.delete({ model: 'skald' });
  assert.equal((await ollama.list()).models.length, 1);
  await assert.rejects(ollama.show({ model: 'skald' }), /not found/);
  await assert.rejects(ollama.pull({ model: 'no-repository' }), /owner\/repo/);
});

await check('ollama abort', async () => {
  const stream = await ollama.chat({ model, messages, options: { temperature: 0, num_predict: 400 }, stream: true });
  await assert.rejects(async () => {
    for await (const part of stream) stream.abort();
  });
});

process.exit(failed ? 1 : 0);
