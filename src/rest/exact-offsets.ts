import { RequestError } from '../errors.ts';
import type { JsonObject, OffsetChange } from '../herder/offset-requests.ts';
import { JsonScanner } from '../json/json-tree.ts';
import { ANY_OBJECT, arrayOf, nullable, objectOf } from '../json/open-api.ts';

/** Offsets in a body, in the form of Connect. */
export const OFFSET_LIST = nullable(
  arrayOf(objectOf({ 'partition?': nullable(ANY_OBJECT), 'offset?': nullable(ANY_OBJECT) })),
);

/** Parses the list under this key of a valid body. Whole numbers keep every digit. */
export function exactOffsets(text: string, key: string): OffsetChange[] {
  const body = new JsonScanner<bigint | number>(text.replace(/^\ufeff/, ''), readNumber).readValue() as Body;
  return (body.get(key) ?? []).map((entry) => ({
    partition: (entry.get('partition') ?? null) as JsonObject | null,
    offset: (entry.get('offset') ?? null) as JsonObject | null,
  }));
}

/**
 * The initial offsets of a new connector. `given` is the list in its parsed form; it shows only whether there are any.
 * @throws RequestError 400: the list is empty
 */
export function initialOffsets(text: string, given: readonly unknown[] | null | undefined): OffsetChange[] | undefined {
  if (given?.length === 0) {
    throw new RequestError(400, 'Partitions / offsets need to be provided in initial_offsets');
  }
  return given ? exactOffsets(text, 'initial_offsets') : undefined;
}

type Body = ReadonlyMap<string, JsonObject[]>;

function readNumber(text: string, integral: boolean): bigint | number {
  return integral ? BigInt(text) : Number(text);
}
