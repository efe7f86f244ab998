// Sends a picture by the clients that people use; prints "ok NAME" for each that gets an answer. The text of each message
// is the name. Arguments: address of a server whose model "story" takes pictures.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText } from 'ai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';

const address = process.argv[2];
const baseURL = address + '/v1';
const apiKey = 'key';
const model = 'story';
const data =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const url = 'data:image/png;base64,' + data;
let failed = false;

async function check(name, send) {
  try {
    assert.ok((await send(name)).length > 0);
    console.log('ok ' + name);
  } catch (e) {
    failed = true;
    console.log('FAILED ' + name + ': ' + (e.stack ?? e));
  }
}

const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const imageUrl = { type: 'image_url', image_url: { url, detail: 'low' } };

await check('openai chat', async (text) => {
  const content = [{ type: 'text', text }, imageUrl];
  const answer = await openai.chat.completions.create({ model, messages: [{ role: 'user', content }], max_tokens: 4 });
  return answer.choices[0].message.content;
});

await check('openai responses', async (text) => {
  const content = [{ type: 'input_text', text }, { type: 'input_image', image_url: url, detail: 'auto' }];
  const answer = await openai.responses.create({ model, input: [{ role: 'user', content }], max_output_tokens: 4 });
  return answer.output_text;
});

await check('anthropic messages', async (text) => {
  const anthropic = new Anthropic({ baseURL: address, apiKey, maxRetries: 0 });
  const source = { type: 'base64', media_type: 'image/png', data };
  const content = [{ type: 'image', source }, { type: 'text', text }];
  const answer = await anthropic.messages.create({ model, messages: [{ role: 'user', content }], max_tokens: 4 });
  return answer.content[0].text;
});

await check('ollama chat', async (text) => {
  const ollama = new Ollama({ host: address, headers: { Authorization: 'Bearer ' + apiKey } });
  const messages = [{ role: 'user', content: text, images: [data] }];
  return (await ollama.chat({ model, messages, options: { num_predict: 4 } })).message.content;
});

await check('ai text', async (text) => {
  const provider = createOpenAICompatible({ name: 'tenon', baseURL, apiKey });
  const content = [{ type: 'text', text }, { type: 'file', mediaType: 'image/png', data: Buffer.from(data, 'base64') }];
  return (await generateText({ model: provider(model), messages: [{ role: 'user', content }], maxOutputTokens: 4 })).text;
});

await check('langchain chat', async (text) => {
  const langchain = new ChatOpenAI({ model, apiKey, maxTokens: 4, maxRetries: 0, configuration: { baseURL } });
  return (await langchain.invoke([new HumanMessage({ content: [{ type: 'text', text }, imageUrl] })])).content;
});

process.exit(failed ? 1 : 0);
