import { arrayOf, objectOf, type JsonSchema } from '../../../src/index.ts';

export const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const nullable = (...types: readonly string[]): JsonSchema => ({ type: [...types, 'null'] });
const nothing: JsonSchema = { type: 'null' };

export function ref(name: keyof typeof ANSWER_SCHEMAS): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const code = (...values: readonly number[]): JsonSchema => ({ enum: values });
const column: JsonSchema = {
  type: 'array',
  items: { type: ['string', 'number'] },
  minItems: 3,
  maxItems: 3,
  description: 'Name, type and length in bytes',
};
const bad = objectOf({ original_line: text, line_number: count, error_message: text });
const bucket = objectOf({
  id: text,
  orgID: text,
  type: { const: 'user' },
  name: text,
  retentionRules: { type: 'array', maxItems: 0 },
});
const links = objectOf({ self: text });
const influxResult = objectOf({
  statement_id: count,
  'series?': arrayOf(objectOf({ 'name?': text, columns: arrayOf(text), values: arrayOf({ type: 'array' }) })),
  'messages?': arrayOf(objectOf({ level: { const: 'warning' }, text })),
  'error?': text,
});

/** The bodies of the answers. */
export const ANSWER_SCHEMAS = {
  Point: objectOf({
    metric: text,
    timestamp: { type: 'integer' },
    value: { type: ['number', 'string', 'boolean'] },
    tags: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
  }),
  Failure: objectOf({ code: code(-1), desc: text }),
  Login: objectOf({ code: code(0), token: { type: 'string', pattern: '^[0-9a-f]{32}$' } }),
  Sessions: objectOf({
    code: code(0),
    tokens: arrayOf(
      objectOf({
        SessionID: text,
        Username: text,
        Token: text,
        MaxLifeTime: count,
        LastLoginTime: text,
        ExpirationTime: text,
      }),
    ),
  }),
  Deleted: objectOf({ code: code(0), desc: text }),
  Query: objectOf({
    code: code(0),
    desc: nothing,
    time: number,
    column_meta: arrayOf(column),
    data: arrayOf({ type: 'array' }),
    rows: count,
    'truncated?': { const: true },
    'continuation?': nullable('string'),
  }),
  QueryFailure: objectOf({
    code: code(-1, 500),
    desc: text,
    time: nothing,
    column_meta: nothing,
    data: nothing,
    rows: nothing,
  }),
  Ddl: objectOf({ code: code(0, -1), desc: arrayOf(text), time: nullable('number') }),
  Insert: objectOf({
    code: code(0, -1),
    desc: arrayOf(text),
    rows: nullable('integer'),
    notice: nullable('string'),
    time: nullable('number'),
  }),
  Ingest: objectOf({
    code: code(0, -1),
    desc: nullable('string'),
    rows: nullable('integer'),
    time: nullable('number'),
  }),
  InfluxError: objectOf({ error: text, 'code?': text, 'message?': text, 'line?': count }),
  InfluxResults: objectOf({ 'results?': arrayOf(influxResult) }),
  Influx2Error: objectOf({ code: text, message: text, 'line?': count }),
  Influx3Error: objectOf({ error: text, 'data?': { anyOf: [bad, arrayOf(bad)] } }),
  Bucket: bucket,
  Buckets: objectOf({ links, buckets: arrayOf(bucket) }),
  Organizations: objectOf({ links, orgs: arrayOf(objectOf({ id: text, name: text })) }),
  PutCounts: objectOf({ success: count, failed: count }),
  PutDetails: objectOf({ errors: arrayOf(objectOf({ datapoint: {}, error: text })), success: count, failed: count }),
  PutError: objectOf({ error: objectOf({ code: count, message: text, 'details?': text }) }),
  Version: {
    type: 'object',
    properties: { version: text },
    required: ['version'],
    additionalProperties: text,
  },
  Health: objectOf({
    name: text,
    message: text,
    status: { enum: ['pass', 'fail'] },
    checks: { type: 'array', maxItems: 0 },
  }),
  Settings: objectOf({ config: { type: 'object' } }),
} as const satisfies Readonly<Record<string, JsonSchema>>;
