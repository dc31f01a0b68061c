import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import type { OffsetChange } from '../herder/offset-requests.ts';
import type { OffsetTarget } from '../herder/offsets-preview.ts';
import { exactOffsets, initialOffsets, OFFSET_LIST } from './exact-offsets.ts';
import { enumOf, objectOf, withKeywords, withMore, type Typed } from '../json/open-api.ts';
import { validatorOf } from '../json/validator.ts';
import { checkBody, readJsonText } from './request-body.ts';

export const OFFSETS_BODY = objectOf({ 'offsets?': OFFSET_LIST });

const isOffsets = validatorOf(OFFSETS_BODY);

/** The body of `PATCH …/offsets`, with every digit of its whole numbers; empty if it names no offsets. */
export async function readOffsets(request: IncomingMessage): Promise<OffsetChange[]> {
  const { text, parsed } = await readJsonText(request);
  const body = checkBody(isOffsets, parsed, {
    className: 'org.apache.kafka.connect.runtime.rest.entities.ConnectorOffsets',
    known: ['offsets'],
  });
  return (body.offsets ?? []).length === 0 ? [] : exactOffsets(text, 'offsets');
}

const hasInitialOffsets = validatorOf(withMore(objectOf({ 'initial_offsets?': OFFSET_LIST })));

/** `initial_offsets` of a connector's file in JSON, with every digit of its whole numbers; `undefined`: it has none. */
export function initialOffsetsOfFile(text: string): OffsetChange[] | undefined {
  return initialOffsets(text, checkBody(hasInitialOffsets, JSON.parse(text)).initial_offsets);
}

/** Milliseconds since 1970, or an ISO 8601 text. */
const TIME: Typed<number | string> = { type: ['integer', 'string'] };

/** The body of `POST …/offsets/preview`: exactly one of these members. */
export const TARGET_BODY = withKeywords(
  objectOf({ 'to?': enumOf(['earliest', 'latest']), 'time?': TIME, 'offsets?': OFFSET_LIST }),
  { minProperties: 1, maxProperties: 1 },
);

const isTarget = validatorOf(TARGET_BODY);

/** @throws RequestError 400: the body is invalid */
export async function readTarget(request: IncomingMessage): Promise<OffsetTarget> {
  const { text, parsed } = await readJsonText(request);
  const { to, time, offsets } = checkBody(isTarget, parsed);
  if (to !== undefined) return { to };
  if (time !== undefined) return { time: milliseconds(String(time)) };
  if ((offsets ?? []).length === 0) throw new RequestError(400, 'offsets must name at least one partition');
  return { offsets: exactOffsets(text, 'offsets') };
}

/** Parses a time. Numbers in bodies arrive as text. */
function milliseconds(text: string): number {
  const time = /^-?\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(time)) return time;
  throw new RequestError(400, `The time ${text.slice(0, 100)} is neither milliseconds since 1970 nor an ISO 8601 text`);
}
