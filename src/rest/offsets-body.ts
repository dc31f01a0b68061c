import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import type { OffsetChange } from '../herder/offset-requests.ts';
import type { OffsetTarget } from '../herder/offsets-preview.ts';
import { exactOffsets, initialOffsets, OFFSET_LIST } from './exact-offsets.ts';
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

const hasInitialOffsets = ajv.compile<{ initial_offsets?: readonly unknown[] | null }>({
  type: 'object',
  properties: { initial_offsets: OFFSET_LIST },
});

/** `initial_offsets` of a connector's file in JSON, with every digit of its numbers; `undefined`: it has none. */
export function initialOffsetsOfFile(text: string): OffsetChange[] | undefined {
  return initialOffsets(text, checkBody(hasInitialOffsets, JSON.parse(text)).initial_offsets);
}

/** The body of `POST …/offsets/preview`: one of these. */
export const TARGET_BODY = {
  type: 'object',
  properties: {
    to: { type: 'string', enum: ['earliest', 'latest'] },
    time: { type: ['integer', 'string'] },
    offsets: OFFSET_LIST,
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const;

const isTarget = ajv.compile<{
  to?: 'earliest' | 'latest';
  time?: string | number;
  offsets?: readonly unknown[] | null;
}>(TARGET_BODY);

/** Throws a RequestError 400 for another body. */
export async function readTarget(request: IncomingMessage): Promise<OffsetTarget> {
  const { text, parsed } = await readJsonText(request);
  const { to, time, offsets } = checkBody(isTarget, parsed);
  if (to !== undefined) return { to };
  if (time !== undefined) return { time: milliseconds(String(time)) };
  if ((offsets ?? []).length === 0) throw new RequestError(400, 'offsets must name at least one partition');
  return { offsets: exactOffsets(text, 'offsets') };
}

/** Numbers come as text. */
function milliseconds(text: string): number {
  const time = /^-?\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(time)) return time;
  throw new RequestError(400, `The time ${text.slice(0, 100)} is neither milliseconds since 1970 nor of ISO 8601`);
}
