import type { IncomingMessage } from 'node:http';
import { JsonScanner } from '../json/json-tree.ts';
import type { JsonObject, OffsetChange } from '../herder/offset-requests.ts';
import { ajv, checkBody, readJsonText } from './request-body.ts';

export const OFFSETS_BODY = {
  type: 'object',
  properties: {
    offsets: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        properties: { partition: { type: ['object', 'null'] }, offset: { type: ['object', 'null'] } },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

const isOffsets = ajv.compile<{ offsets?: readonly unknown[] | null }>(OFFSETS_BODY);

/** The body of `PATCH …/offsets`, with every digit of its numbers; empty when it names none. */
export async function readOffsets(request: IncomingMessage): Promise<OffsetChange[]> {
  const { text, parsed } = await readJsonText(request);
  const body = checkBody(isOffsets, parsed, {
    className: 'org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets',
    known: ['offsets'],
  });
  if ((body.offsets ?? []).length === 0) return [];
  const exact = new JsonScanner<bigint | number>(text.replace(/^\ufeff/, ''), readNumber).readValue() as Body;
  return (exact.get('offsets') ?? []).map((entry) => ({
    partition: (entry.get('partition') ?? null) as JsonObject | null,
    offset: (entry.get('offset') ?? null) as JsonObject | null,
  }));
}

type Body = ReadonlyMap<string, JsonObject[]>;

function readNumber(text: string, integral: boolean): bigint | number {
  return integral ? BigInt(text) : Number(text);
}
