import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { texts } from '../texts/connector.ts';

const SERIES = ['rate', 'lag', 'letters', 'batchMs', 'batchSize', 'retries'] as const;
type Series = (typeof SERIES)[number];

/** The last hour of a connector on one worker. */
export type WorkerHistory = Readonly<Record<Series, readonly (number | null)[]>> & {
  readonly worker: string;
  readonly at: readonly number[];
};

const STEP_MS = 5000;
/** These are added up over workers, the others are means. */
const SUMMED: ReadonlySet<Series> = new Set(['rate', 'lag', 'letters', 'retries']);

/** A chart for each figure, over the tasks of all workers. */
export function HistoryCharts({ workers }: { readonly workers: readonly WorkerHistory[] }) {
  const isEmpty = workers.every(({ rate }) => rate.every((value) => value === null));
  if (isEmpty) return <p class="empty">{texts.noHistory}</p>;
  return (
    <div class="charts">
      {SERIES.map((name) => (
        <Chart key={name} title={texts.series[name]} data={merged(workers, name)} />
      ))}
    </div>
  );
}

function Chart({ title, data }: { readonly title: string; readonly data: uPlot.AlignedData }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const style = getComputedStyle(current);
    const ink = style.getPropertyValue('--quiet');
    const axis = {
      stroke: ink,
      grid: { stroke: style.getPropertyValue('--line') },
      ticks: { show: false },
      font: '11px sans-serif',
    };
    plot.current = new uPlot(
      {
        width: current.clientWidth,
        height: 150,
        cursor: { points: { show: false } },
        legend: { show: false },
        axes: [axis, { ...axis, size: 56 }],
        scales: { y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.05)] } },
        series: [{}, { stroke: style.getPropertyValue('--accent'), width: 1.5, points: { show: false } }],
      },
      data,
      current,
    );
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: current.clientWidth, height: 150 }));
    observer.observe(current);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData(data);
  }, [data]);
  const last = data[1]?.at(-1);
  return (
    <figure>
      <figcaption>
        {title}: <strong>{last === null || last === undefined ? '–' : last.toLocaleString('en')}</strong>
      </figcaption>
      <div ref={place} role="img" aria-label={title} />
    </figure>
  );
}

/** Points of all workers on one axis of seconds. */
function merged(workers: readonly WorkerHistory[], name: Series): uPlot.AlignedData {
  const found = new Map<number, number[]>();
  for (const history of workers) {
    history.at.forEach((at, index) => {
      const slot = Math.round(at / STEP_MS);
      const value = history[name][index];
      const values = found.get(slot) ?? [];
      if (value !== null && value !== undefined) values.push(value);
      found.set(slot, values);
    });
  }
  const slots = [...found.keys()].sort((a, b) => a - b);
  const ys = slots.map((slot) => {
    const values = found.get(slot) ?? [];
    if (values.length === 0) return null;
    const sum = values.reduce((total, value) => total + value, 0);
    return SUMMED.has(name) ? sum : sum / values.length;
  });
  return [slots.map((slot) => (slot * STEP_MS) / 1000), ys];
}
