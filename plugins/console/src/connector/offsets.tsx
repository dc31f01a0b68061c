import { useEffect, useState } from 'preact/hooks';
import type { ConnectorOffsets, Health, OffsetsPreview } from '../common/answers.ts';
import { connectorPath, request, requestText } from '../common/api.ts';
import { parseExact } from '../common/exact-json.ts';
import '../common/form.css';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/offsets.ts';
import type { PartProps } from './health.ts';
import { OffsetChange } from './offset-change.tsx';
import { offsetRun } from './offset-run.ts';
import { OffsetRunView } from './offset-run-view.tsx';
import { offsetText, sinkRows, sourceRows, type OffsetRow } from './offset-rows.ts';
import './offsets.css';

interface Found {
  readonly rows: readonly OffsetRow[];
  readonly at: Date;
}

const MAX_ROWS = 500;

/** Where a connector reads, and the way to let it go on elsewhere. */
export function Offsets({ name, health }: PartProps) {
  const isSink = health.type === 'sink';
  const [found, setFound] = useState<Found | undefined>();
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  const run = offsetRun(name);
  const look = (): void => {
    setRound((last) => last + 1);
  };
  useEffect(() => {
    let isOpen = true;
    load(name, isSink).then(
      (rows) => {
        if (!isOpen) return;
        setFound({ rows, at: new Date() });
        setProblem('');
      },
      (error: unknown) => {
        if (isOpen) setProblem((error as Error).message);
      },
    );
    return () => {
      isOpen = false;
    };
  }, [name, isSink, round, run?.report]);
  return (
    <>
      <section>
        <h2>{texts.offsets}</h2>
        <Problem text={problem} />
        {found === undefined ? (
          problem === '' && <p class="empty">{texts.loading}</p>
        ) : (
          <OffsetTable found={found} isSink={isSink} />
        )}
        <button type="button" onClick={look}>
          {texts.look}
        </button>
      </section>
      {run === undefined ? null : <OffsetRunView name={name} run={run} />}
      {found === undefined || run?.report.at !== undefined ? null : (
        <OffsetChange name={name} isSink={isSink} rows={found.rows} />
      )}
    </>
  );
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

function OffsetTable({ found: { rows, at }, isSink }: { readonly found: Found; readonly isSink: boolean }) {
  if (rows.length === 0) return <p class="empty">{isSink ? texts.noneOfSink : texts.noneOfSource}</p>;
  const shown = (offset: OffsetRow['current'] | undefined) => offsetText(offset ?? null) ?? texts.beginning;
  const titles = isSink
    ? [texts.partition, texts.first, texts.position, texts.end, texts.lag]
    : [texts.table, texts.position];
  return (
    <div class="offsets">
      <TitledTable label={texts.offsets} titles={titles} numbers={isSink ? titles.slice(1) : []}>
        {rows.slice(0, MAX_ROWS).map(({ key, current, first, end, lag }) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            {isSink ? <td class="number">{shown(first)}</td> : null}
            <td class={isSink ? 'number' : undefined}>{shown(current)}</td>
            {isSink ? <td class="number">{shown(end)}</td> : null}
            {isSink ? <td class="number">{lag?.toLocaleString('en') ?? '–'}</td> : null}
          </tr>
        ))}
      </TitledTable>
      <p class="hint">
        {texts.asOf(at.toLocaleTimeString())} {rows.length > MAX_ROWS ? texts.more(rows.length - MAX_ROWS) : ''}
      </p>
    </div>
  );
}
