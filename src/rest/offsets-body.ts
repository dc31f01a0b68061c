import type { IncomingMessage } from 'node:http';
import type { OffsetChange } from '../herder/offset-requests.ts';
import { exactOffsets, OFFSET_LIST } from './exact-offsets.ts';
import { ajv, checkBody, readJsonText } from './request-body.ts';

export const OFFSETS_BODY = {
  type: 'object',
  properties: { offsets: OFFSET_LIST },
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
  return (body.offsets ?? []).length === 0 ? [] : exactOffsets(text, 'offsets');
}
