import type { IncomingMessage } from 'node:http';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { JsonScanner, type JsonTree } from '../json/json-tree.ts';
import { arrayOf, enumOf, nullable, objectOf, TEXT, type Typed } from '../json/open-api.ts';
import { validatorOf } from '../json/validator.ts';
import { RequestError, toError } from '../errors.ts';
import { bodyChunks, BodyTooLargeError } from '../http/body-chunks.ts';
import type { OffsetChange } from '../herder/offset-requests.ts';
import { BodyBudget } from './body-budget.ts';
import { HttpError } from './error-mapping.ts';
import { initialOffsets, OFFSET_LIST } from './exact-offsets.ts';

const MAX_KEYS = 5000;
const MAX_ALIASES = 500;
/** Maximum length of a name in an error message. */
const MAX_NAMED = 500;
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A connector configuration as it was sent; validation refuses `null` values and names their keys. */
export type ConfigBody = Readonly<Record<string, string | null>>;

export interface CreateConnectorBody {
  readonly name: string;
  readonly config: ConfigBody;
  readonly initialState: string | undefined;
  /** Not empty; `undefined`: the request sets no initial offsets. */
  readonly initialOffsets: readonly OffsetChange[] | undefined;
}

/** A configuration as clients may send it. Numbers arrive as text, see `parseJson`. */
export const CONFIG_BODY: Typed<Scalars> = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
};
type Scalars = Readonly<Record<string, string | number | boolean | null>>;

export const TASK_CONFIGS_BODY = arrayOf(CONFIG_BODY);

const OPTIONAL_OF_CREATE = {
  'initial_state?': nullable(enumOf(['RUNNING', 'PAUSED', 'STOPPED'])),
  'initial_offsets?': OFFSET_LIST,
};

export const CREATE_CONNECTOR_BODY = objectOf({ name: TEXT, config: CONFIG_BODY, ...OPTIONAL_OF_CREATE });

const NAME: Typed<string | boolean | null> = { type: ['string', 'boolean', 'null'] };

/**
 * The form of the bodies that Kafka Connect parses. It is wider than the documented one, because Connect reports other
 * errors later, with its own messages.
 */
const ACCEPTED_CREATE_BODY = objectOf({
  'name?': NAME,
  'config?': nullable(CONFIG_BODY),
  ...OPTIONAL_OF_CREATE,
  'initial_state?': nullable(TEXT),
});

const isConfig = validatorOf(CONFIG_BODY);
const isTaskConfigs = validatorOf(TASK_CONFIGS_BODY);
const isCreateConnector = validatorOf(ACCEPTED_CREATE_BODY);

/** The Java class into which Connect parses a body, and its fields, for the message about an unknown field. */
export interface BodyFields {
  readonly className: string;
  readonly known: readonly string[];
}

const CREATE_FIELDS: BodyFields = {
  className: 'org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest',
  known: ['config', 'name', 'initial_state'],
};

/** The body of `POST /connectors`. */
export async function readCreateConnector(request: IncomingMessage): Promise<CreateConnectorBody> {
  const { text, parsed } = await readJsonText(request);
  const body = checkBody(isCreateConnector, parsed, CREATE_FIELDS);
  return {
    name: String(body.name ?? '').trim(),
    config: asConfig(body.config ?? {}),
    initialState: body.initial_state ?? undefined,
    initialOffsets: initialOffsets(text, body.initial_offsets),
  };
}

/** Reads a flat configuration. Scalars become text, as in Connect. */
export async function readConfig(request: IncomingMessage): Promise<ConfigBody> {
  return asConfig(checkBody(isConfig, (await readJsonText(request)).parsed));
}

/** The body of `POST /connectors/{connector}/tasks`, from its text. */
export function parseTaskConfigs(text: string): Record<string, string>[] {
  return checkBody(isTaskConfigs, parseJson(text)).map((config) => {
    const entries = Object.entries(asConfig(config));
    return Object.fromEntries(entries.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
  });
}

/**
 * Converts scalars to text.
 * @throws RequestError 400: there are too many keys, transforms or predicates, each of which costs the worker time
 */
export function asConfig(map: Scalars): ConfigBody {
  const keys = Object.keys(map).length;
  if (keys > MAX_KEYS)
    throw new RequestError(400, `A configuration has at most ${String(MAX_KEYS)} keys, and this one ${String(keys)}`);
  for (const list of ['transforms', 'predicates']) {
    const aliases = String(map[list] ?? '').split(',', MAX_ALIASES + 1).length;
    if (aliases > MAX_ALIASES) throw new RequestError(400, `${list} has more than ${String(MAX_ALIASES)} names`);
  }
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, value === null ? null : String(value)]));
}

/**
 * Reads a JSON body. Numbers are parsed as text.
 * @throws HttpError 415: the content type is not JSON (curl's `-d` alone declares a form)
 */
export async function readJsonText(request: IncomingMessage): Promise<{ text: string; parsed: unknown }> {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(contentType)) throw new HttpError(415);
  const text = (await readBytes(request)).toString();
  return { text, parsed: parseJson(text) };
}

/** Like `readJsonText`, but numbers become JavaScript numbers. */
export async function readPlainJson(request: IncomingMessage): Promise<unknown> {
  return plainNumbers((await readJsonText(request)).text);
}

/**
 * @throws RequestError 400: the text is not JSON. The message does not quote the text, which may contain a password.
 */
function plainNumbers(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch {
    // `readJsonText` has accepted the text, but it accepts more than JSON, such as numbers with leading zeros.
    throw new RequestError(400, 'The request body is not JSON');
  }
}

/** Bodies that were read. They are kept, because forwarding a request needs its body again. */
const known = new WeakMap<IncomingMessage, Promise<Buffer>>();

/**
 * @throws HttpError 413: the body exceeds `maxBytes`; RequestError 503: it does not fit the BodyBudget; 400: it is
 * incomplete
 */
export async function readBytes(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const bytes = known.get(request) ?? readAll(request, maxBytes);
  known.set(request, bytes);
  return bytes;
}

async function readAll(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const budget = BodyBudget.of(request);
  // All chunks are copied into one buffer. If each chunk has a single byte, a Buffer for each would take a hundred
  // times the memory of the body.
  let held = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of bodyChunks(request, { maxBytes })) {
      if (size + chunk.length > held.length) {
        const capacity = Math.min(maxBytes, Math.max(size + chunk.length, 2 * held.length));
        budget?.add(request, capacity - held.length);
        const grown = Buffer.allocUnsafe(capacity);
        held.copy(grown, 0, 0, size);
        held = grown;
      }
      size += chunk.copy(held, size);
    }
  } catch (error) {
    budget?.release(request);
    if (error instanceof BodyTooLargeError) throw new HttpError(413);
    if (error instanceof RequestError) throw error;
    throw new RequestError(400, `The request body cannot be read to its end: ${toError(error).message}`);
  }
  budget?.complete(request);
  return held.subarray(0, size);
}

function parseJson(text: string): unknown {
  if (text.trim() === '') throw new RequestError(400, 'The request has no body; JSON is needed');
  const scanner = new JsonScanner(text.replace(/^\ufeff/, ''), (number) => number);
  try {
    const tree = scanner.readValue();
    if (scanner.hasMore()) throw new Error('there is more after the first value');
    return plain(tree);
  } catch (error) {
    throw new RequestError(400, `The request body is not JSON: ${toError(error).message}`);
  }
}

/** Converts maps to objects. Numbers stay text, with every digit. */
function plain(tree: JsonTree<string>): unknown {
  if (Array.isArray(tree)) return tree.map(plain);
  if (tree instanceof Map) return Object.fromEntries([...tree].map(([key, value]) => [key, plain(value)]));
  return tree;
}

/**
 * Returns the body if it matches the schema.
 * @throws RequestError 400 with the first error
 */
export function checkBody<T>(validate: ValidateFunction<T>, body: unknown, fields?: BodyFields): T {
  if (validate(body)) return body;
  const [first] = validate.errors ?? [];
  throw new RequestError(400, describe(first, fields));
}

function describe(error: ErrorObject | undefined, fields: BodyFields | undefined): string {
  if (error?.keyword === 'additionalProperties') {
    const name = shortened((error.params as { additionalProperty: string }).additionalProperty);
    if (error.instancePath === '' && fields !== undefined) return unrecognized(name, fields);
    return `Unrecognized field "${name}" at ${shortened(error.instancePath)}`;
  }
  const path = shortened(error?.instancePath ?? '');
  const where = path === '' ? 'The request body' : `The value at ${path}`;
  return `${where} ${error?.message ?? 'is not what is expected'}`;
}

function shortened(text: string): string {
  return text.length > MAX_NAMED ? `${text.slice(0, MAX_NAMED)}…` : text;
}

/** The message of Jackson. */
function unrecognized(name: string, { className, known }: BodyFields): string {
  const names = known.map((field) => `"${field}"`).join(', ');
  const count = known.length === 1 ? 'one known property' : `${String(known.length)} known properties`;
  return `Unrecognized field "${name}" (class ${className}), not marked as ignorable (${count}: ${names})`;
}
