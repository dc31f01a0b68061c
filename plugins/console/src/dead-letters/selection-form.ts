/** A range of offsets of one partition, as typed by the user. */
export interface RangeForm {
  readonly partition: string;
  readonly from: string;
  readonly to: string;
}

/** The fields of a selection of records, as typed by the user. An empty field does not restrict the selection. */
export interface SelectionForm {
  /** The ID of a group, or the key that `restKey` returns for a stopped or failed replay; empty for all records. */
  readonly group: string;
  /** Contains at least one range, which may be empty. */
  readonly ranges: readonly RangeForm[];
  /** Values of `datetime-local` inputs. */
  readonly since: string;
  readonly until: string;
  readonly stage: string;
  readonly class: string;
  readonly sqlstate: string;
  readonly table: string;
  readonly column: string;
  readonly topic: string;
  readonly message: string;
  /** Options of transforms as JSON. */
  readonly transforms: string;
}

/** The request body of a preview. The request body of a replay also has `rate`. */
export interface SelectionBody {
  readonly selection: Readonly<Record<string, unknown>>;
  readonly transforms?: Readonly<Record<string, string>>;
}

/** The records that a stopped or failed replay has not processed. */
export interface RestOfReplay {
  readonly id: number;
  readonly selection: Readonly<Record<string, unknown>>;
}

/** Names the invalid field. */
export interface SelectionProblem {
  readonly problem: 'partition' | 'offsets' | 'time' | 'transforms';
}

export const ANY_RANGE: RangeForm = { partition: '', from: '', to: '' };
/** Maximum number of ranges in the form. The API accepts more. */
export const MAX_RANGES = 100;
export const EVERYTHING: SelectionForm = {
  ...{ group: '', ranges: [ANY_RANGE], since: '', until: '' },
  ...{ stage: '', class: '', sqlstate: '', table: '', column: '', topic: '', message: '', transforms: '' },
};
export const FILTERS = ['stage', 'class', 'sqlstate', 'table', 'column', 'topic', 'message'] as const;

type Fields = Readonly<Record<string, number>>;

/**
 * Builds the request body, or returns the invalid field. `rest`: the records to use if `group` is the key of this replay. The other
 * fields then only narrow this selection, so that no record is replayed twice.
 */
export function selectionBody(form: SelectionForm, rest?: RestOfReplay): SelectionBody | SelectionProblem {
  const { group, since, until } = form;
  const ranges: Fields[] = [];
  for (const typed of form.ranges) {
    const range = rangeOf(typed);
    if (typeof range === 'string') return { problem: range };
    if (range !== undefined) ranges.push(range);
  }
  const [begin, end] = [milliseconds(since), milliseconds(until)];
  if (begin === null || end === null || (begin !== undefined && end !== undefined && end <= begin))
    return { problem: 'time' };
  const transforms = chain(form.transforms);
  if (transforms === null) return { problem: 'transforms' };
  const filter = FILTERS.flatMap((key) => (form[key].trim() === '' ? [] : [[key, form[key].trim()] as const]));
  const left = rest !== undefined && group === restKey(rest) ? (rest.selection as RestSelection) : undefined;
  const offsets = left === undefined ? ranges : intersection(left.offsets ?? [], ranges);
  if (ranges.length > 0 && offsets.length === 0) return { problem: 'offsets' };
  const time = narrowed(left?.time ?? {}, defined({ from: begin, to: end }));
  const narrow = { ...Object.fromEntries(filter), ...left?.filter };
  const selection = {
    ...(left ?? (group === '' ? {} : { group })),
    ...(offsets.length === 0 ? {} : { offsets }),
    ...(Object.keys(time).length === 0 ? {} : { time }),
    ...(Object.keys(narrow).length === 0 ? {} : { filter: narrow }),
  };
  return { selection, ...(transforms === undefined ? {} : { transforms }) };
}

/** The parts of the selection of a stopped or failed replay that the other fields narrow. */
interface RestSelection extends Readonly<Record<string, unknown>> {
  readonly offsets?: readonly Fields[];
  readonly time?: Fields;
  readonly filter?: Readonly<Record<string, string>>;
}

/** Returns the offsets that are in a range of both lists. */
function intersection(some: readonly Fields[], others: readonly Fields[]): readonly Fields[] {
  return some.flatMap((one) =>
    others.flatMap((other) => {
      if (one['partition'] !== other['partition']) return [];
      const range = narrowed(one, other);
      const { from = 0, to = Infinity } = range;
      return from > to ? [] : [{ ...one, ...range }];
    }),
  );
}

/** Returns the later beginning and the earlier end of two ranges. */
function narrowed(one: Fields, other: Fields): Fields {
  const begins = [one['from'], other['from']].filter((each) => each !== undefined);
  const ends = [one['to'], other['to']].filter((each) => each !== undefined);
  return defined({
    from: begins.length === 0 ? undefined : Math.max(...begins),
    to: ends.length === 0 ? undefined : Math.min(...ends),
  });
}

/** Parses a range. Returns `undefined` if it is empty, and the name of the problem if it is invalid. */
function rangeOf({ partition, from, to }: RangeForm): Fields | undefined | 'partition' | 'offsets' {
  const [part, first, last] = [number(partition), number(from), number(to)];
  if (part === null || (part === undefined && (first ?? last) !== undefined)) return 'partition';
  if (first === null || last === null || (first !== undefined && last !== undefined && last < first)) return 'offsets';
  return part === undefined ? undefined : defined({ partition: part, from: first, to: last });
}

/** The key that represents the unprocessed records of a stopped or failed replay in the choice of groups. */
export function restKey({ id }: Pick<RestOfReplay, 'id'>): string {
  return `rest-of-${String(id)}`;
}

/** Parses a number. Returns `undefined` for an empty field, and `null` for a text that is not a valid number. */
function number(text: string): number | undefined | null {
  const digits = text.trim();
  if (digits === '') return undefined;
  const value = Number(digits);
  return /^\d+$/.test(digits) && Number.isSafeInteger(value) ? value : null;
}

function milliseconds(text: string): number | undefined | null {
  if (text === '') return undefined;
  const value = new Date(text).getTime();
  return Number.isNaN(value) || value < 0 ? null : value;
}

function chain(text: string): Readonly<Record<string, string>> | undefined | null {
  if (text.trim() === '') return undefined;
  try {
    const parsed = JSON.parse(text) as unknown;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
    const entries = Object.entries(parsed);
    if (entries.some(([, value]) => typeof value === 'object')) return null;
    return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
  } catch {
    return null;
  }
}

function defined(fields: Readonly<Record<string, number | undefined>>): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])),
  );
}
