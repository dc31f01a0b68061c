/** JSON Schema 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const nullable = (...types: readonly string[]): JsonSchema => ({ type: [...types, 'null'] });
const nothing: JsonSchema = { type: 'null' };

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function ref(name: keyof typeof ANSWER_SCHEMAS): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object with exactly these properties; those whose names end with `?` may be absent. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    additionalProperties: false,
  };
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
  'series?': listOf(objectOf({ 'name?': text, columns: listOf(text), values: listOf({ type: 'array' }) })),
  'messages?': listOf(objectOf({ level: { const: 'warning' }, text })),
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
    tokens: listOf(
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
    column_meta: listOf(column),
    data: listOf({ type: 'array' }),
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
  Ddl: objectOf({ code: code(0, -1), desc: listOf(text), time: nullable('number') }),
  Insert: objectOf({
    code: code(0, -1),
    desc: listOf(text),
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
  InfluxResults: objectOf({ 'results?': listOf(influxResult) }),
  Influx2Error: objectOf({ code: text, message: text, 'line?': count }),
  Influx3Error: objectOf({ error: text, 'data?': { anyOf: [bad, listOf(bad)] } }),
  Bucket: bucket,
  Buckets: objectOf({ links, buckets: listOf(bucket) }),
  Organizations: objectOf({ links, orgs: listOf(objectOf({ id: text, name: text })) }),
  PutCounts: objectOf({ success: count, failed: count }),
  PutDetails: objectOf({ errors: listOf(objectOf({ datapoint: {}, error: text })), success: count, failed: count }),
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
