import {
  decodedPointFormats,
  resolveMetric,
  retarget,
  type DecodedRows,
  type MetricTarget,
  type TableCatalogue,
  type ValueType,
  type WriteReport,
} from '../../src/index.ts';
import { DecodeClock, decodeLines, decodeWhole } from './ingest-decode.ts';
import { ingest, type Store } from './ingest-flow.ts';
import type { Outcome } from './ingest-outcome.ts';
import { ApiFailure, type ApiRequest } from './route.ts';

/** The value of `value.type`: what the value column of a new table is (design/decisions.md, "Connectors"). */
export function valueTypeOf({ query }: ApiRequest, fallback: ValueType = 'VARCHAR'): ValueType {
  const asked = query.get('value.type') ?? query.get('value_type') ?? fallback;
  const type = (['VARCHAR', 'FLOAT8', 'auto'] as const).find((known) => known.toLowerCase() === asked.toLowerCase());
  if (type === undefined)
    throw new ApiFailure(400, `invalid value.type "${asked.slice(0, 32)}": use VARCHAR, FLOAT8 or auto`);
  return type;
}

/** Stores a JSON array of points, or one point. `textOf` finds the text of a point of the body by its number. */
export async function ingestJsonPoints(
  body: AsyncIterable<Buffer>,
  store: Store,
  valueType: ValueType,
  textOf?: (text: string) => (point: number) => string | undefined,
): Promise<Outcome> {
  const clock = new DecodeClock();
  const decoder = decodedPointFormats.json_tsd.create({ valueType });
  const outcome = await ingest(decodeWhole(decoder, body, clock, textOf), store, clock);
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

/** What a metric names is remembered this long; a body of many metrics would ask twice for each of them otherwise. */
const MAX_TARGET_AGE_MS = 2_000;
const MAX_TARGETS = 20_000;

interface KnownTarget {
  readonly target: MetricTarget;
  readonly readAt: number;
}

const targetsByCatalogue = new WeakMap<TableCatalogue, Map<string, KnownTarget>>();

/** Finds the table of each metric, and writes into it by `store`. */
export function byMetric(catalogue: TableCatalogue, store: Store): Store {
  return async (rows) => {
    const { metric } = rows;
    if (metric === undefined) return store(rows);
    const known = targetsOf(catalogue).get(metric);
    const isFresh = known !== undefined && performance.now() - known.readAt < MAX_TARGET_AGE_MS;
    const report = await storeIn(isFresh ? known.target : await find(catalogue, metric), rows, store);
    // The table may have changed since: the next rows of the metric ask again.
    if (report.faults.length > 0) targetsOf(catalogue).delete(metric);
    return report;
  };
}

async function find(catalogue: TableCatalogue, metric: string): Promise<MetricTarget> {
  const target = await resolveMetric(metric, async (name) => catalogue.find({ name }));
  const targets = targetsOf(catalogue);
  if (targets.size >= MAX_TARGETS) targets.clear();
  targets.set(metric, { target, readAt: performance.now() });
  return target;
}

async function storeIn(target: MetricTarget, rows: DecodedRows, store: Store): Promise<WriteReport> {
  const { rows: retargeted, faults } = retarget(rows, target);
  const report = await store(retargeted);
  return faults.length === 0 ? report : { ...report, faults: [...faults, ...report.faults] };
}

function targetsOf(catalogue: TableCatalogue): Map<string, KnownTarget> {
  let targets = targetsByCatalogue.get(catalogue);
  if (targets === undefined) targetsByCatalogue.set(catalogue, (targets = new Map<string, KnownTarget>()));
  return targets;
}
