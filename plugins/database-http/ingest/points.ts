import {
  anyOf,
  arrayOf,
  BOOLEAN,
  component,
  enumOf,
  INTEGER,
  mapOf,
  NUMBER,
  objectOf,
  TEXT,
  type QueryParameter,
} from '../../../src/index.ts';
import { json } from '../open-api/shared-schemas.ts';
import {
  decodedPointFormats,
  MetricTargets,
  NanosecondSpread,
  NANOSECOND_RULES,
  type NanosecondRule,
  type TableCatalogue,
  type ValueType,
} from '../../database/index.ts';
import { DecodeClock, decodeElements, decodeLines, type ElementText } from './decode.ts';
import { ingest, type Store } from './ingest.ts';
import type { Outcome } from './outcome.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';

const POINT = component(
  'Point',
  objectOf({
    metric: TEXT,
    timestamp: INTEGER,
    value: anyOf(NUMBER, TEXT, BOOLEAN),
    tags: mapOf(anyOf(TEXT, NUMBER, BOOLEAN)),
  }),
);
/** A body of points in JSON. */
export const POINTS = json(POINT, arrayOf(POINT));

const VALUE_TYPES = ['VARCHAR', 'FLOAT8', 'auto'] as const satisfies readonly ValueType[];
/** The query parameter `value.type`. */
export const VALUE_TYPE: QueryParameter = {
  description: 'The type of the value column of new tables',
  schema: enumOf(VALUE_TYPES),
};
/** The query parameter `nanoseconds`. */
export const NANOSECONDS: QueryParameter = {
  description: 'How nanoseconds are handled; PostgreSQL stores microseconds',
  schema: enumOf(NANOSECOND_RULES),
};

/** The value of `value.type`, which is the type of the value column in new tables (docs/formats.md#tables-of-lines-and-points). */
export function valueTypeOf({ query }: ApiRequest, fallback: ValueType = 'VARCHAR'): ValueType {
  const asked = query.get('value.type') ?? query.get('value_type') ?? fallback;
  const type = VALUE_TYPES.find((known) => known.toLowerCase() === asked.toLowerCase());
  if (type === undefined)
    throw new ApiFailure(400, `invalid value.type "${asked.slice(0, 32)}": use VARCHAR, FLOAT8 or auto`);
  return type;
}

/** The value of `nanoseconds`, which determines how nanoseconds are handled. PostgreSQL's times have microseconds. */
export function nanosecondsOf({ query }: ApiRequest, fallback: NanosecondRule): NanosecondRule {
  const asked = query.get('nanoseconds');
  if (asked === null) return fallback;
  const rule = NANOSECOND_RULES.find((known) => known === asked);
  if (rule !== undefined) return rule;
  throw new ApiFailure(400, `invalid nanoseconds "${asked.slice(0, 32)}": use ${NANOSECOND_RULES.join(', ')}`);
}

/** Rules for reading the points of a request. */
export interface PointReading {
  readonly valueType: ValueType;
  readonly nanoseconds: NanosecondRule;
}

/** Stores a JSON array of points, or one point. `textOf` finds the text of a bad point. */
export async function ingestJsonPoints(
  body: AsyncIterable<Buffer>,
  store: Store,
  reading: PointReading,
  textOf?: ElementText,
): Promise<Outcome> {
  const clock = new DecodeClock();
  const decoder = decodedPointFormats.json_tsd.create(policyOf(reading));
  const outcome = await ingest(decodeElements(decoder, body, clock, textOf), spreading(reading, store), clock);
  if (outcome.stored + outcome.collapsed + outcome.badCount > 0) return outcome;
  throw new ApiFailure(400, NO_POINTS);
}

/** Message for an array without points. Clients match on it. */
const NO_POINTS = 'invalid data for tsd json protocol, please check the format.';

/** Stores lines of points. */
export async function ingestTelnetLines(
  body: AsyncIterable<Buffer>,
  store: Store,
  reading: PointReading,
): Promise<Outcome> {
  const clock = new DecodeClock();
  const decoder = decodedPointFormats.line_tsd.create(policyOf(reading));
  return ingest(decodeLines(decoder, body, clock), spreading(reading, store), clock);
}

function policyOf({ valueType, nanoseconds }: PointReading) {
  return { valueType, keepsNanoseconds: nanoseconds !== 'floor' };
}

/**
 * Returns a store that spreads nanoseconds, if `nanoseconds` is `spread`. Batches of one metric arrive in the order of
 * the body.
 */
function spreading({ nanoseconds }: PointReading, store: Store): Store {
  if (nanoseconds !== 'spread') return store;
  const spread = new NanosecondSpread();
  return async (all) => store(all.map((rows) => spread.apply(rows)));
}

const targetsByCatalogue = new WeakMap<TableCatalogue, MetricTargets>();

/** Returns a store that determines the tables of metrics and writes to them with `store`. */
export function byMetric(catalogue: TableCatalogue, store: Store): Store {
  const targets = targetsByCatalogue.get(catalogue) ?? new MetricTargets(async (name) => catalogue.find({ name }));
  targetsByCatalogue.set(catalogue, targets);
  const findTables = async (names: readonly string[]) => catalogue.findAll(names.map((name) => ({ name })));
  return async (all) => targets.writeAll(all, store, findTables);
}
