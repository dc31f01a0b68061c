import type { IncomingMessage } from 'node:http';
import { JsonNumber, JsonScanner, type JsonTree } from '../../json/json-tree.ts';
import type { PreviewRequest } from './preview-request.ts';
import { SAMPLE_MESSAGE } from './sample-messages.ts';
import { RequestError } from '../../errors.ts';
import { arrayOf, integerBetween, limited, objectOf, TEXT, withKeywords } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import { asConfig, checkBody, CONFIG_BODY, readJsonText } from '../../rest/request-body.ts';

const MAX_MESSAGES = 100;

export const PREVIEW_BODY = objectOf({
  config: CONFIG_BODY,
  'messages?': limited(arrayOf(SAMPLE_MESSAGE), MAX_MESSAGES),
  'topic?': withKeywords(TEXT, { minLength: 1 }),
  'count?': integerBetween(1, MAX_MESSAGES),
});

const isPreviewBody = validatorOf(PREVIEW_BODY);

/** The body of a preview. Keys, values and headers of its messages keep every digit of their numbers. */
export async function readPreview(request: IncomingMessage): Promise<PreviewRequest> {
  const { text } = await readJsonText(request);
  const tree = new JsonScanner(text.replace(/^\ufeff/, ''), exactNumber).readValue();
  const { config, messages, topic, count } = checkBody(isPreviewBody, bodyOf(tree));
  if (messages === undefined && topic === undefined) {
    throw new RequestError(400, 'A preview takes messages, or a topic and a count of its newest messages');
  }
  if (messages !== undefined && count !== undefined) {
    throw new RequestError(400, 'A preview takes messages, or a count of the newest ones of a topic, not both');
  }
  return { config: asConfig(config), messages, topic, count };
}

function exactNumber(text: string, integral: boolean): JsonNumber {
  return new JsonNumber(text, integral);
}

/**
 * Converts the body to plain objects and numbers. Only keys, values and header values of messages stay as they were
 * read.
 */
function bodyOf(tree: JsonTree): unknown {
  if (!(tree instanceof Map)) return numberOf(tree);
  const body = new Map<string, unknown>(tree);
  const [config, messages] = [tree.get('config'), tree.get('messages')];
  if (tree.has('count')) body.set('count', numberOf(tree.get('count')));
  if (config instanceof Map) body.set('config', configOf(config));
  if (Array.isArray(messages)) body.set('messages', messages.map(messageOf));
  return Object.fromEntries(body);
}

/** Numbers become text as they were written, as in every configuration. */
function configOf(config: Map<string, JsonTree>): unknown {
  const entries = [...config].map(([key, value]) => [key, value instanceof JsonNumber ? value.text : value] as const);
  return Object.fromEntries(entries);
}

function messageOf(tree: JsonTree): unknown {
  if (!(tree instanceof Map)) return numberOf(tree);
  const message = new Map<string, unknown>(tree);
  for (const name of ['timestamp', 'partition']) if (tree.has(name)) message.set(name, numberOf(tree.get(name)));
  if (tree.has('headers')) message.set('headers', headersOf(tree.get('headers')));
  return Object.fromEntries(message);
}

function headersOf(tree: JsonTree | undefined): unknown {
  if (tree instanceof Map) return Object.fromEntries(tree);
  if (!Array.isArray(tree)) return numberOf(tree);
  return tree.map((header) => (header instanceof Map ? Object.fromEntries(header) : numberOf(header)));
}

function numberOf(tree: JsonTree | undefined): unknown {
  return tree instanceof JsonNumber ? Number(tree.text) : tree;
}
