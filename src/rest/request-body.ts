import type { IncomingMessage } from 'node:http';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { RequestError } from '../errors.ts';
import { HttpError } from './error-mapping.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A connector configuration as it came in; `null` values are refused by validation, which names their keys. */
export type ConfigBody = Readonly<Record<string, string | null>>;

export interface CreateConnectorBody {
  readonly name: string;
  readonly config: ConfigBody;
  readonly initialState: string | undefined;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

const SCALAR_MAP = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
} as const;

const isConfig = ajv.compile<Record<string, string | number | boolean | null>>(SCALAR_MAP);

const isCreateConnector = ajv.compile<{
  name?: string | number | boolean | null;
  config?: Record<string, string | number | boolean | null> | null;
  initial_state?: string | null;
}>({
  type: 'object',
  properties: {
    name: { type: ['string', 'number', 'boolean', 'null'] },
    config: { ...SCALAR_MAP, type: ['object', 'null'] },
    initial_state: { type: ['string', 'null'] },
  },
  additionalProperties: false,
});

/** The body of `POST /connectors`. */
export async function readCreateConnector(request: IncomingMessage): Promise<CreateConnectorBody> {
  const body = check(isCreateConnector, await readJson(request), CREATE_FIELDS);
  return {
    name: String(body.name ?? '').trim(),
    config: asConfig(body.config ?? {}),
    initialState: body.initial_state ?? undefined,
  };
}

/** A flat map: scalars become text, as Connect does. */
export async function readConfig(request: IncomingMessage): Promise<ConfigBody> {
  return asConfig(check(isConfig, await readJson(request), undefined));
}

function asConfig(map: Record<string, string | number | boolean | null>): ConfigBody {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, value === null ? null : String(value)]));
}

/** Answers 415 unless the body is said to be JSON (curl's `-d` alone says it is a form). */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType)) throw new HttpError(415);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new HttpError(413);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (text.trim() === '') throw new RequestError(400, 'The request has no body; a JSON object is needed');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RequestError(400, `The request body is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

const CREATE_FIELDS = {
  className: 'org.apache.kafka.connect.runtime.rest.entities.CreateConnectorRequest',
  known: ['config', 'initial_state', 'name'],
} as const;

function check<T>(validate: ValidateFunction<T>, body: unknown, fields: typeof CREATE_FIELDS | undefined): T {
  if (validate(body)) return body;
  const [first] = validate.errors ?? [];
  throw new RequestError(400, describe(first, fields));
}

function describe(error: ErrorObject | undefined, fields: typeof CREATE_FIELDS | undefined): string {
  if (error?.keyword === 'additionalProperties' && fields !== undefined) {
    const name = (error.params as { additionalProperty: string }).additionalProperty;
    const known = fields.known.map((field) => `"${field}"`).join(', ');
    return `Unrecognized field "${name}" (class ${fields.className}), not marked as ignorable (${String(fields.known.length)} known properties: ${known})`;
  }
  const where = error?.instancePath === '' ? 'The request body' : `The value at ${error?.instancePath ?? ''}`;
  return `${where} ${error?.message ?? 'is not what is expected'}`;
}
