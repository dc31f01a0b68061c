import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConnectorOffsets, Health, OffsetsPreview } from '../common/answers.ts';
import { connectorPath, request, requestText } from '../common/api.ts';
import { parseExact } from '../common/exact-json.ts';
import { hints } from '../common/route.ts';
import '../common/form.css';
import { skewMs } from '../common/fleet-store.ts';
import { clockTime, dateTime, durationText } from '../common/time.ts';
import { Async, POLL_MS, useLoaded, type Loaded } from '../kit/loaded.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/offsets.ts';
import type { PartProps } from './health.ts';
import { messageReader, readNextTimes } from './next-record-times.ts';
import { OffsetChange } from './offset-change.tsx';
import { offsetRun, type OffsetRun } from './offset-run.ts';
import { OffsetRunView } from './offset-run-view.tsx';
import { offsetText, sinkRows, sourceRows, type OffsetRow } from './offset-rows.ts';
import './offsets.css';

const MAX_ROWS = 500;
/** The next records are read again after this time, because each of them needs a request. */
const NEXT_RECORDS_MS = 30_000;

/** Shows the offsets of a connector, and lets the user change them. */
export function Offsets({ name, health }: PartProps) {
  const isSink = health.type === 'sink';
  const run = offsetRun(name);
  const loaded = useLoaded(name, () => load(name, isSink), { again: run?.report, everyMs: () => POLL_MS });
  const [isEdited, setEdited] = useState(false);
  const { value: rows, at } = useHeld(loaded, isEdited);
  return (
    <>
      <section>
        <h2>{texts.offsets}</h2>
        <Async of={{ value: rows, error: loaded.error }}>
          {(shown) => <OffsetTable name={name} rows={shown} at={at} isSink={isSink} isHeld={isEdited} />}
        </Async>
      </section>
      {run === undefined ? null : <OffsetRunView name={name} run={run} />}
      {rows === undefined || run?.report.at !== undefined ? null : (
        <OffsetChange name={name} isSink={isSink} rows={rows} skip={skipHint(run)} onEdited={setEdited} />
      )}
    </>
  );
}

/** Returns the last loaded value. While `isHeld`, the value stays as it was. */
function useHeld<T>({ value, at }: Loaded<T>, isHeld: boolean): Pick<Loaded<T>, 'value' | 'at'> {
  const held = useRef({ value, at });
  if (!isHeld) held.current = { value, at };
  return held.current;
}

/** The record that the address proposes to skip, as `topic-partition@offset`. After a change, it is not proposed again. */
function skipHint(run: OffsetRun | undefined): string | undefined {
  const { skip } = hints.value;
  return skip !== undefined && run?.skip !== skip ? skip : undefined;
}

async function load(name: string, isSink: boolean): Promise<readonly OffsetRow[]> {
  const path = `${connectorPath(name)}/offsets`;
  if (!isSink) {
    const { offsets } = parseExact(await requestText('GET', path)) as ConnectorOffsets;
    return sourceRows(offsets);
  }
  const preview = async (to: 'earliest' | 'latest') =>
    parseExact(await requestText('POST', `${path}/preview`, JSON.stringify({ to }))) as OffsetsPreview;
  const health = request<Health>('GET', `${connectorPath(name)}/health`);
  const [earliest, latest, { tasks }] = await Promise.all([preview('earliest'), preview('latest'), health]);
  return sinkRows(earliest, latest, tasks);
}

/** Returns the timestamps of the next records of partitions with a lag, as they are read; keys are those of the rows. */
function useNextTimes(name: string, rows: readonly OffsetRow[], at: Date): ReadonlyMap<string, number> {
  const [times, setTimes] = useState<ReadonlyMap<string, number>>(new Map());
  useEffect(() => {
    let isOpen = true;
    const found = (key: string, time: number): void => setTimes((last) => new Map(last).set(key, time));
    void readNextTimes(rows, messageReader(name), found, () => isOpen);
    return () => {
      isOpen = false;
    };
  }, [name, rows.length, Math.floor(at.getTime() / NEXT_RECORDS_MS)]);
  return times;
}

interface OffsetTableProps {
  readonly name: string;
  readonly rows: readonly OffsetRow[];
  readonly at: Date;
  readonly isSink: boolean;
  /** Whether the rows are not refreshed at present. */
  readonly isHeld: boolean;
}

function OffsetTable({ name, rows, at, isSink, isHeld }: OffsetTableProps) {
  const times = useNextTimes(name, rows, at);
  if (rows.length === 0) return <p class="empty">{isSink ? texts.noneOfSink : texts.noneOfSource}</p>;
  const shown = (offset: OffsetRow['current'] | undefined) => offsetText(offset ?? null) ?? texts.beginning;
  const titles = isSink
    ? [texts.partition, texts.first, texts.position, texts.end, texts.lag, texts.nextRecord]
    : [texts.table, texts.position];
  return (
    <div class="offsets">
      <Table label={texts.offsets} titles={titles} numbers={isSink ? titles.slice(1) : []}>
        {rows.slice(0, MAX_ROWS).map(({ key, current, first, end, lag }) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            {isSink ? <td class="number">{shown(first)}</td> : null}
            <td class={isSink ? 'number' : undefined}>{shown(current)}</td>
            {isSink ? <td class="number">{shown(end)}</td> : null}
            {isSink ? <td class="number">{lag?.toLocaleString('en') ?? '–'}</td> : null}
            {isSink ? <NextRecord time={lag === 0 ? undefined : times.get(key)} /> : null}
          </tr>
        ))}
      </Table>
      <p class="hint">
        {isHeld ? texts.heldAt(clockTime(at)) : texts.asOf(clockTime(at))}{' '}
        {rows.length > MAX_ROWS ? texts.more(rows.length - MAX_ROWS) : ''}
      </p>
    </div>
  );
}

/** Shows the age of the next record that a sink will deliver; empty if it is not known. */
function NextRecord({ time }: { readonly time: number | undefined }) {
  if (time === undefined) return <td class="number" />;
  return (
    <td class="number" title={dateTime(time)}>
      {texts.old(durationText(Date.now() - skewMs.value - time))}
    </td>
  );
}
