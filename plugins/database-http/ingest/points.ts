import { decodedPointFormats, MetricTargets, type TableCatalogue, type ValueType } from '../../../src/index.ts';
import { DecodeClock, decodeElements, decodeLines, type ElementText } from './decode.ts';
import { ingest, type Store } from './flow.ts';
import type { Outcome } from './outcome.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';

/** The value of `value.type`: what the value column of a new table is (design/decisions.md, "Connectors"). */
export function valueTypeOf({ query }: ApiRequest, fallback: ValueType = 'VARCHAR'): ValueType {
  const asked = query.get('value.type') ?? query.get('value_type') ?? fallback;
  const type = (['VARCHAR', 'FLOAT8', 'auto'] as const).find((known) => known.toLowerCase() === asked.toLowerCase());
  if (type === undefined)
    throw new ApiFailure(400, `invalid value.type "${asked.slice(0, 32)}": use VARCHAR, FLOAT8 or auto`);
  return type;
}

/** Stores a JSON array of points, or one point. `textOf` finds the text of a bad one. */
export async function ingestJsonPoints(
  body: AsyncIterable<Buffer>,
  store: Store,
  valueType: ValueType,
  textOf?: ElementText,
): Promise<Outcome> {
  const clock = new DecodeClock();
  const decoder = decodedPointFormats.json_tsd.create({ valueType });
  const outcome = await ingest(decodeElements(decoder, body, clock, textOf), store, clock);
  if (outcome.stored + outcome.collapsed + outcome.badCount > 0) return outcome;
  throw new ApiFailure(400, NO_POINTS);
}

/** An array without points, in the words of the original (reference/original-system.md 10.3). */
const NO_POINTS = 'invalid data for tsd json protocol, please check the format.';

/** Stores lines of points. */
export async function ingestTelnetLines(
  body: AsyncIterable<Buffer>,
  store: Store,
  valueType: ValueType,
): Promise<Outcome> {
  const clock = new DecodeClock();
  return ingest(decodeLines(decodedPointFormats.line_tsd.create({ valueType }), body, clock), store, clock);
}

const targetsByCatalogue = new WeakMap<TableCatalogue, MetricTargets>();

/** Finds the table of each metric, and writes into it by `store`. */
export function byMetric(catalogue: TableCatalogue, store: Store): Store {
  const targets = targetsByCatalogue.get(catalogue) ?? new MetricTargets(async (name) => catalogue.find({ name }));
  targetsByCatalogue.set(catalogue, targets);
  return async (rows) => targets.write(rows, store);
}
